// Looks every two seconds whether the submission is graded, and says where it stands; without it the page reloads.
const place = document.getElementById("live");
const look = async () => {
  const answer = await fetch(location.href).catch(() => null);
  if (answer && answer.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const now = page.getElementById("live");
    if (!now) return location.reload();
    if (now.textContent !== place.textContent) place.textContent = now.textContent;
  }
  setTimeout(look, 2000);
};
setTimeout(look, 1000);
