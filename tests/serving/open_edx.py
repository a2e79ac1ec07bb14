"""A small Open edX, for `test_open_edx.py`: its LTI platform as released, in as little of Django as that needs.

The platform is the package lti-consumer-xblock: its launches, keys, tokens, deep linking and marks. It is run by a
Python that has this package, and neither ours nor pytest. Of the learning management system around it there is what
the package asks for: one course with one block, whoever somebody says they are, and a list of the marks that came.
"""

# ruff: noqa: E402  Django wants to be set up before the package is imported.

from __future__ import annotations

import sys
import uuid
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import django
from django.conf import settings

FOLDER, PORT, TOOL = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
HERE = f"http://127.0.0.1:{PORT}"
COURSE = "course-v1:Example+DL101+2026"
BLOCK = "block-v1:Example+DL101+2026+type@lti_consumer+block@lesson"

settings.configure(
    DEBUG=True,  # so that it says what goes wrong
    SECRET_KEY="of a try",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(FOLDER / "open_edx.db")}},
    CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "rest_framework",
        "config_models",
        "lti_consumer",
    ],
    MIDDLEWARE=[
        "edx_django_utils.cache.middleware.RequestCacheMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "edx_django_utils.cache.middleware.TieredCacheMiddleware",
    ],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
    USE_TZ=True,
    USAGE_ID_PATTERN=r"(?P<usage_id>(?:i4x://?[^/]+/[^/]+/[^/]+/[^@]+(?:@[^/]+)?)|(?:[^/]+))",
    LMS_ROOT_URL=HERE,
    PLATFORM_NAME="Example University",
)
django.setup()

from django.core.management import call_command
from django.core.servers.basehttp import run
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import include, path
from lti_consumer import api
from lti_consumer.data import Lti1p3LaunchData
from lti_consumer.models import LtiConfiguration
from lti_consumer.plugin import compat
from opaque_keys.edx.keys import UsageKey

graded: list[dict[str, Any]] = []
"""What the gradebook was told."""


class Block:
    """The one block, as far as the platform looks at it."""

    weight, display_name, has_score, accept_grades_past_due = 1, "Lesson 2", True, True
    context_id, lti_1p3_passport_id = COURSE, ""
    scope_ids = SimpleNamespace(usage_id=UsageKey.from_string(BLOCK))

    def is_past_due(self) -> bool:
        return False

    def max_score(self) -> int:
        return 1

    def set_user_module_score(self, user: str, score: float, most: float, comment: str = "") -> None:
        graded.append({"user": user, "score": score, "most": most, "comment": comment})


compat.load_enough_xblock = compat.load_block_as_user = lambda location: Block()
compat.get_user_from_external_user_id = lambda user: user
compat.user_has_studio_write_access = lambda user, course: True
compat.get_course_by_id = lambda course: None
compat.user_course_access = compat.user_has_access = lambda *_, **__: True


def configuration() -> LtiConfiguration:
    """The tool, as an author enters it in Studio."""
    known = LtiConfiguration.objects.filter(location=BLOCK).first()
    if known is None:
        known = LtiConfiguration.objects.create(
            version=LtiConfiguration.LTI_1P3,
            config_store=LtiConfiguration.CONFIG_ON_DB,
            location=UsageKey.from_string(BLOCK),
            lti_1p3_oidc_url=f"{TOOL}/lti/login",
            lti_1p3_launch_url=f"{TOOL}/lti/launch",
            lti_advantage_deep_linking_enabled=True,
            lti_advantage_deep_linking_launch_url=f"{TOOL}/lti/choose",
            lti_advantage_ags_mode=LtiConfiguration.LTI_ADVANTAGE_AGS_DECLARATIVE,
        )
        passport = known.lti_1p3_passport
        passport.lti_1p3_tool_keyset_url = f"{TOOL}/lti/keys"
        passport.save()
    return known


def about(request: HttpRequest) -> Lti1p3LaunchData:
    """A launch, as the block makes it; who it is of stands in the address."""
    who = request.GET["who"]
    return Lti1p3LaunchData(
        user_id=7,
        user_role=request.GET.get("role", "student"),
        config_id=configuration().config_id,
        resource_link_id=BLOCK,
        external_user_id=str(uuid.uuid5(uuid.NAMESPACE_DNS, who)),
        name=who if request.GET.get("named") else None,
        launch_presentation_document_target="iframe",
        context_id=COURSE,
        context_type=["course_offering"],
        context_title="Deep learning - Example",
        context_label=COURSE,
        custom_parameters={"lesson": request.GET["lesson"]} if "lesson" in request.GET else {},
    )


def shown(request: HttpRequest) -> HttpResponse:
    """What an author copies out of Studio into the tool."""
    info = api.get_lti_1p3_launch_info(about(request))
    return JsonResponse({"issuer": HERE, **{name: info[name] for name in info if "deep" not in name}})


def opened(request: HttpRequest) -> HttpResponse:
    """Somebody opens the block."""
    return HttpResponseRedirect(api.get_lti_1p3_content_url(about(request)))


def choosing(request: HttpRequest) -> HttpResponse:
    """An author presses "Deep Linking Launch" in Studio."""
    return HttpResponseRedirect(api.get_lti_1p3_launch_start_url(about(request), deep_link_launch=True))


def chosen(request: HttpRequest) -> HttpResponse:
    """What was chosen."""
    items = configuration().ltidlcontentitem_set.all()
    return JsonResponse({"items": [{"type": item.content_type, **item.attributes} for item in items]})


def marks(request: HttpRequest) -> HttpResponse:
    """The gradebook, and all that the service for marks keeps."""
    items = configuration().ltiagslineitem_set.all()
    scores = [
        {"user": score.user_id, "progress": score.grading_progress, "given": score.score_given}
        for item in items
        for score in item.scores.all()
    ]
    return JsonResponse({"graded": graded, "kept": scores})


urlpatterns = [
    path("api/", include("lti_consumer.plugin.urls")),
    path("shown", shown),
    path("open", opened),
    path("choose", choosing),
    path("chosen", chosen),
    path("marks", marks),
]

if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    run("127.0.0.1", PORT, get_wsgi_application(), threading=True)
