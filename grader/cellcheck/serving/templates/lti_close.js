// Tells the platform that showed this page that its registration is done, as the standard says. It holds no secret.
(window.opener || window.parent).postMessage({ subject: "org.imsglobal.lti.close" }, "*");
