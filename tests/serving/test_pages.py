"""What learners and instructors do there."""

from __future__ import annotations

import csv
import io
import json
import threading
import time
import zipfile

import pytest

from cellcheck.serving import learner_pages, queue
from cellcheck.serving.settings import Rules
from cellcheck.serving.tables import Job, Key, Person, Submission
from cellcheck.submitting import zip_file
from tests.serving.conftest import LESSON, OTHER, Browser, Make, Place, link_in, whole_words

DAY = 24 * 60 * 60


def test_a_learner_hands_in_waits_and_reads(place: Place) -> None:
    ada = place.browser("ada")
    assert "nothing yet" in ada.get("/")
    page = ada.hand_in(b"{}")
    assert page == "/submissions/1"
    assert "It is next in the queue. It can&#39;t be lost" in ada.get(page).replace("'", "&#39;")
    place.browser("bob").hand_in(b"{}")
    assert "1 is before it" in place.browser("bob").get("/submissions/2")
    place.grade(7.5, page="<p>what the card says</p>")
    assert "7.5 <small>of 24 points" in ada.get(page)
    assert "This attempt counts." in ada.get(page)
    assert ada.get(f"{page}/feedback") == "<p>what the card says</p>"
    assert ada.get(f"{page}/notebook") == "{}"
    ada.get("/submissions/2", 404)


def test_the_same_file_again_is_no_new_attempt(place: Place) -> None:
    ada = place.browser("ada")
    assert ada.hand_in(b"same") == ada.hand_in(b"same") == "/submissions/1"
    assert "19 are left" in ada.get(f"/assignments/{LESSON}")


@pytest.mark.parametrize(
    ("counts", "expected"), [("best", "/submissions/1"), ("last", "/submissions/3"), ("chosen", "/submissions/2")]
)
def test_the_attempt_that_counts(make: Make, counts: str, expected: str) -> None:
    place = make(Rules(LESSON, "One", counts=counts))  # type: ignore[arg-type]
    ada = place.browser("ada")
    for data in (b"1", b"2", b"3"):
        ada.hand_in(data)
    if counts == "chosen":
        ada.post("/submissions/2/choose")  # while it still waits
    else:
        assert "nothing to choose" in ada.post("/submissions/2/choose", 400)
    place.grade(9.0, 5.0, 9.0)
    assert "This attempt counts." in ada.get(expected)
    assert sum("This attempt counts." in ada.get(f"/submissions/{n}") for n in (1, 2, 3)) == 1


def test_late_work_loses_what_the_rules_say_and_an_extension_gives_it_back(make: Make) -> None:
    place = make(Rules(LESSON, "One", due=time.time() - 1.5 * DAY, penalty_per_day=0.25))
    teacher, ada = place.browser("teacher"), place.browser("ada")
    ada.hand_in()
    place.grade(20.0)
    assert "10 <small>of 24 points: 20 before 2 days late" in ada.get("/submissions/1")
    teacher.post(f"/class/{ada.person}/extend", lesson=LESSON, until="2999-01-01T00:00")
    assert "20 <small>of 24 points" in ada.get("/submissions/1")
    assert "(extended for you)" in ada.get("/")
    teacher.post(f"/class/{ada.person}/extend", lesson=LESSON, until="")
    assert "10 <small>of 24 points" in ada.get("/submissions/1")
    assert "extended 01_pytorch_basics to 2999-01-01" in teacher.get("/class/log")


def test_what_is_closed_takes_nothing_but_what_it_has(make: Make) -> None:
    place = make(Rules(LESSON, "One", closes=time.time() + 3600))
    ada = place.browser("ada")
    ada.hand_in(b"in time")
    place.settings.assignments[LESSON].__dict__["closes"] = time.time() - 5  # it is later now
    assert "One is closed. Ask your instructor for an extension." in ada.hand_in(b"too late", status=400)
    assert ada.hand_in(b"in time") == "/submissions/1"


def test_attempts_are_counted_within_a_day(make: Make) -> None:
    place = make(Rules(LESSON, "One", attempts_per_day=2))
    ada = place.browser("ada")
    ada.hand_in(b"1")
    ada.hand_in(b"2")
    assert "You have handed in 2 times in 24 hours" in ada.hand_in(b"3", status=400)
    assert ada.hand_in(b"2") == "/submissions/2"
    place.browser("bob").hand_in(b"3")
    with place.store.writing() as session:
        session.get_one(Submission, 1).received -= DAY
    ada.hand_in(b"3")


def test_a_full_queue_says_when_to_come_back(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "MOST_WAITING", 0)
    ada = place.browser("ada")
    answer = ada.client.post(f"/assignments/{LESSON}", data={"csrf": ada.csrf}, files={"notebook": ("x.ipynb", b"{}")})
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "600"
    assert "Nothing was taken in" in answer.text


@pytest.mark.parametrize(("data", "sentence"), [(b"", "The file is empty"), (b" \n", "The file is empty")])
def test_an_empty_file_is_said(place: Place, data: bytes, sentence: str) -> None:
    assert sentence in place.browser("ada").hand_in(data, status=400)


def test_without_a_file_it_asks_for_one(place: Place) -> None:
    ada = place.browser("ada")
    assert "Choose a notebook first" in ada.post(f"/assignments/{LESSON}", 400)
    ada.post("/assignments/99_nothing", 404)


def with_token(place: Place, browser: Browser) -> dict[str, str]:
    page = browser.post("/me/tokens", 200)
    token = page.partition("shown this once: <code>")[2].partition("</code>")[0]
    assert token
    assert token not in browser.get("/me")
    return {"Authorization": f"Bearer {token}"}


def test_a_program_hands_in_with_a_token_until_it_is_revoked(place: Place) -> None:
    ada = place.browser("ada")
    headers, program = with_token(place, ada), place.browser("").client
    answer = program.post(f"/api/assignments/{LESSON}", content=b"{}", headers=headers)
    assert answer.status_code == 201
    assert answer.json() | {"state": "queued", "ahead": 0, "submission": 1} == answer.json()
    assert answer.json()["page"] == "https://class.example/submissions/1"
    assert program.post(f"/api/assignments/{LESSON}", content=b"{}", headers=headers).status_code == 200
    place.grade(6.0)
    looked = program.get("/api/submissions/1", headers=headers).json()
    assert (looked["state"], looked["score"], looked["mark"], looked["counts"]) == ("done", 6.0, 6.0, True)
    assert program.post("/api/assignments/99", content=b"{}", headers=headers).json()["error"].startswith("There is no")
    with place.store.reading() as session:
        (key,) = session.query(Key).filter_by(kind="token")
    ada.post(f"/me/tokens/{key.id}/revoke")
    assert program.get("/api/submissions/1", headers=headers).status_code == 401


def test_there_are_only_so_many_tokens(place: Place) -> None:
    ada = place.browser("ada")
    for _ in range(5):
        ada.post("/me/tokens", 200)
    assert "Revoke one" in ada.post("/me/tokens", 400)


def test_an_instructor_adds_people_and_a_lost_link_is_replaced(place: Place) -> None:
    teacher = place.browser("teacher")
    page = teacher.post("/class/people", 200, names="eve\n\n  finn \n")
    assert page.count("/sign-in/") == 2
    assert "finn is already in the class" in teacher.post("/class/people", 400, names="finn")
    old = link_in(page)
    with place.store.reading() as session:
        eve = session.query(Person).filter_by(name="eve").one().id
    lost = place.browser("eve")
    lost.get("/me")
    new = link_in(teacher.post(f"/class/{eve}/link", 200))
    lost.get("/me", 401)
    assert place.browser("").client.post(old).status_code == 401
    assert place.browser("").client.post(new, follow_redirects=False).status_code == 303


def test_another_look_is_asked_for_and_answered(place: Place) -> None:
    teacher, ada = place.browser("teacher"), place.browser("ada")
    ada.hand_in()
    place.grade(1.0)
    ada.post("/submissions/1/ask", why="pick is right")
    assert "pick is right" in teacher.get("/class")
    teacher.post("/class/requests/1", answer="it isn't: look at ties")
    assert "look at ties" in ada.get("/submissions/1")
    assert "Asked for another look" not in teacher.get("/class")


def test_regrading_keeps_the_old_mark_until_there_is_a_new_one(place: Place) -> None:
    teacher, ada = place.browser("teacher"), place.browser("ada")
    ada.hand_in()
    place.grade(1.0)
    teacher.post("/class/regrade", lesson=LESSON, submission="")
    with place.store.reading() as session:
        assert [job.state for job in session.query(Job)] == ["queued"]
    place.grade(5.0)
    assert "5 <small>of 24" in ada.get("/submissions/1")
    assert "There is nothing to grade again" in teacher.post("/class/regrade", 400, lesson=OTHER, submission="")


def test_the_marks_hold_everybody(place: Place) -> None:
    teacher = place.browser("teacher")
    teacher.post("/class/people", 200, names="=cmd()")
    place.browser("ada").hand_in()
    place.grade(4.25)
    place.browser("bob").hand_in()
    lines = list(csv.DictReader(io.StringIO(teacher.get("/class/marks.csv"))))
    shown = {(line["student_id"], line["assignment"]): (line["score"], line["state"]) for line in lines}
    assert shown["ada", LESSON] == ("4.25", "graded")
    assert shown["bob", LESSON] == ("", "waiting")
    assert shown["ada", OTHER] == ("", "nothing handed in")
    assert ("'=cmd()", LESSON) in shown
    assert len(lines) == 6


def test_what_is_kept_about_somebody_is_theirs_to_have_and_can_be_deleted(place: Place) -> None:
    teacher, ada = place.browser("teacher"), place.browser("ada")
    ada.hand_in(b"my words")
    place.grade(2.0)
    export = json.loads(ada.get("/me/export"))
    assert export["submissions"][0]["notebook"] == "my words"
    assert export["submissions"][0]["graded"][0]["score"] == 2.0
    assert ada.session not in json.dumps(export)
    assert "write that name" in teacher.post(f"/class/{ada.person}/delete", 400, name="bob")
    teacher.post(f"/class/{ada.person}/delete", name="ada")
    ada.get("/me", 401)
    with place.store.reading() as session:
        assert session.query(Submission).count() == session.query(Job).count() == 0
        assert session.query(Key).filter_by(person_id=ada.person).count() == 0
    assert "ada" not in whole_words(teacher.get("/class/log"))
    assert "can&#39;t delete yourself" in teacher.post(f"/class/{teacher.person}/delete", 400, name="teacher")


def test_one_page_at_a_time_is_quick_for_a_class(place: Place) -> None:
    """A page of three hundred asks the database a few questions, not one for each learner."""
    with place.store.writing() as session:
        learners = [Person(name=f"learner {n}", made=0.0) for n in range(300)]
        session.add_all(learners)
        session.flush()
        for learner in learners:
            queue.accept(session, learner.id, LESSON, b"{}", 7)
    from sqlalchemy import event

    asked: list[str] = []
    engine = place.store._read.kw["bind"]
    event.listen(engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    place.browser("teacher").get("/class")
    assert len(asked) < 20, asked
    assert learner_pages.MOST_BYTES > 0


def test_an_extension_opens_what_only_closes(make: Make) -> None:
    place = make(Rules(LESSON, "One", closes=time.time() - 5, grace_minutes=10))
    teacher, ada = place.browser("teacher"), place.browser("ada")
    ada.hand_in(status=400)
    teacher.post(f"/class/{ada.person}/extend", lesson=LESSON, until="2999-01-01T00:00")
    assert "No due date (extended for you); closes 2999-01-01 00:10 UTC" in ada.get(f"/assignments/{LESSON}")
    ada.hand_in()
    place.browser("bob").hand_in(status=400)


@pytest.mark.parametrize("until", ["2999-01-01", "2999-01-01T00:00+01:00", "2999-13-01T00:00", "soon"])
def test_an_extension_is_in_utc_or_refused(make: Make, until: str) -> None:
    place = make(Rules(LESSON, "One", due=time.time()))
    teacher, ada = place.browser("teacher"), place.browser("ada")
    assert "it is in UTC" in teacher.post(f"/class/{ada.person}/extend", 400, lesson=LESSON, until=until)
    assert "extended" not in ada.get("/")


def test_nobody_is_late_because_the_database_was_busy(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, there, waits = place.browser("ada"), threading.Event(), threading.Event()
    ada.get("/")
    free: list[float] = []
    opened = learner_pages.notebook_in  # what is done last before the database is asked
    monkeypatch.setattr(learner_pages, "notebook_in", lambda data: waits.set() or opened(data))

    def hold() -> None:
        with place.store.writing():
            there.set()
            waits.wait(60)
            time.sleep(0.5)
            free.append(time.time())

    holder = threading.Thread(target=hold)
    holder.start()
    there.wait()
    ada.hand_in()
    holder.join()
    assert waits.is_set()
    with place.store.reading() as session:
        assert session.get_one(Submission, 1).received <= free[0] - 0.5


def test_the_last_attempt_is_given_once(make: Make) -> None:
    place = make(Rules(LESSON, "One", attempts_per_day=3))
    browsers, statuses = [place.browser("ada") for _ in range(8)], []

    def hand_in(browser: Browser, data: bytes) -> None:
        answer = browser.client.post(
            f"/assignments/{LESSON}",
            data={"csrf": browser.csrf},
            files={"notebook": ("x.ipynb", data)},
            follow_redirects=False,
        )
        statuses.append(answer.status_code)

    threads = [threading.Thread(target=hand_in, args=(one, str(n).encode())) for n, one in enumerate(browsers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [303] * 3 + [400] * 5


def test_who_is_deleted_meanwhile_hands_in_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = place.browser("ada")

    def deletes(data: bytes) -> bytes:
        place.browser("teacher").post(f"/class/{ada.person}/delete", name="ada")
        return data

    monkeypatch.setattr(learner_pages, "notebook_in", deletes)
    assert "Sign in first" in ada.hand_in(status=401)


def packed(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("_ipynb", ".ipynb"), data)
    return buffer.getvalue()


def test_the_file_that_submit_makes_is_the_notebook_in_it(place: Place) -> None:
    ada, notebook = place.browser("ada"), b'{"cells": []}'
    packed = zip_file.pack(notebook, zip_file.Note.of(notebook, LESSON), {"entry/notes.txt": b"more"})
    assert ada.hand_in(packed) == ada.hand_in(notebook) == "/submissions/1"
    assert ada.get("/submissions/1/notebook") == notebook.decode()
    headers = {"Authorization": f"Bearer {place.key('ada')}"}
    assert ada.client.post(f"/api/assignments/{LESSON}", content=packed, headers=headers).json()["submission"] == 1


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (packed(a_ipynb=b"1", b_ipynb=b"2"), "There are 2 notebooks in the zip file"),
        (packed(notes=b"1"), "There are no notebooks in the zip file"),
        (packed(a_ipynb=b" " * 30 * 2**20), "It unpacks to more than 200 times its size"),
        (b"PK\x03\x04 and then nothing", "It is not a zip file that can be read"),
        (packed(**{"../a_ipynb": b"1"}), "was left out"),
    ],
    ids=["two", "none", "a bomb", "damaged", "a way out"],
)
def test_other_zip_files_are_refused(place: Place, data: bytes, sentence: str) -> None:
    ada = place.browser("ada")
    assert sentence in ada.hand_in(data, status=400)
    assert "20 are left" in ada.get(f"/assignments/{LESSON}")


def test_a_mark_stands_when_grading_again_fails(place: Place) -> None:
    teacher, ada = place.browser("teacher"), place.browser("ada")
    ada.hand_in()
    place.grade(5.0, page="<p>the first page</p>")
    teacher.post("/class/regrade", lesson=LESSON, submission="1")
    again = queue.Queue(place.store)
    work = again.take()
    assert work is not None
    again.fail(work, "No walls.", "<p>failed</p>")
    assert "It could not be graded again. No walls. The 5 of 24 points from before stand." in ada.get("/submissions/1")
    assert "the first page" in ada.get("/submissions/1/feedback")
    (line, *_) = csv.DictReader(io.StringIO(teacher.get("/class/marks.csv")))
    assert (line["student_id"], line["score"]) == ("ada", "5.0")
    assert "1 could not be graded" in teacher.get("/class")


def test_the_log_names_nobody_who_is_gone_and_everybody_reads_what_is_said_of_them(place: Place) -> None:
    teacher = place.browser("teacher")
    teacher.post("/class/people", 200, names="eve")
    eve = place.browser("eve")
    eve.hand_in()
    place.grade(1.0)
    eve.post("/submissions/1/ask", why="please")
    teacher.post("/class/requests/1", answer="no")
    teacher.post(f"/class/{eve.person}/extend", lesson=LESSON, until="2999-01-01T00:00")
    teacher.post(f"/class/{eve.person}/link", 200)
    teacher.post("/class/regrade", lesson=LESSON, submission="1")
    events = json.loads(place.browser("eve").get("/me/export"))["events"]
    assert len(events) == 5
    assert teacher.get("/class/log").count("<td>eve</td>") == 5
    teacher.post(f"/class/{eve.person}/delete", name="eve")
    assert "eve" not in whole_words(teacher.get("/class/log"))


def test_the_same_name_written_by_another_system_is_the_same(place: Place) -> None:
    teacher = place.browser("teacher")
    teacher.post("/class/people", 200, names="Zo\u00eb")
    assert "already in the class" in teacher.post("/class/people", 400, names="Zoe\u0308")
    zoe = place.browser("Zo\u00eb")
    teacher.post(f"/class/{zoe.person}/delete", name="Zoe\u0308")


def test_a_whole_class_is_added_at_once_in_any_letters(place: Place) -> None:
    names = "\n".join(f"{'李' * 20} {n}" for n in range(600))
    assert place.browser("teacher").post("/class/people", 200, names=names).count("/sign-in/") == 600


def test_words_hold_nothing_that_can_not_be_kept_or_seen(place: Place) -> None:
    ada = place.browser("ada")
    ada.hand_in()
    place.grade(1.0)
    ada.post("/submissions/1/ask", why="first\r\nsecond \0 \u202e")
    assert "first\nsecond \N{REPLACEMENT CHARACTER} \N{REPLACEMENT CHARACTER}" in ada.get("/submissions/1")


def test_a_link_of_ones_own_opens_another_browser(place: Place) -> None:
    phone = place.browser("")
    assert phone.client.post(link_in(place.browser("ada").post("/me/link", 200))).status_code == 200
    assert ">ada</a>" in phone.get("/")


def test_who_is_deleted_while_their_work_is_graded_takes_it_along(place: Place) -> None:
    teacher, ada = place.browser("teacher"), place.browser("ada")
    ada.hand_in()
    at_it = queue.Queue(place.store)
    work = at_it.take()
    assert work is not None
    teacher.post(f"/class/{ada.person}/delete", name="ada")
    assert not at_it.renew(work)
    assert not at_it.finish(work, 1.0, 1.0, "{}", "")
    assert at_it.take() is None


def test_what_is_being_graded_can_be_chosen_and_starts_over_when_it_is_graded_again(make: Make) -> None:
    place = make(Rules(LESSON, "One", counts="chosen"))
    teacher, ada = place.browser("teacher"), place.browser("ada")
    ada.hand_in(b"1")
    ada.hand_in(b"2")
    at_it = queue.Queue(place.store)
    work = at_it.take()
    assert work is not None
    teacher.post("/class/regrade", lesson=LESSON, submission="1")
    ada.post("/submissions/1/choose")
    assert not at_it.finish(work, 2.0, 24.0, '{"exercises": []}', "")
    place.grade(3.0, 9.0)
    assert at_it.take() is None
    assert "This attempt counts." in ada.get("/submissions/1")
