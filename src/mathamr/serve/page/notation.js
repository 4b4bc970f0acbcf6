// The page of the notation asks for itself again while the server still reads posts, and shows what has come.

const PAUSE = 2000;

async function goOn() {
  try {
    const answer = await fetch(location.href);
    if (answer.ok) {
      const next = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.querySelector("main").replaceWith(next.querySelector("main"));
    }
  } catch {
    return; // the server is gone; loading the page again tells that
  }
  wait();
}

function wait() {
  if (document.querySelector('[data-read="False"]')) setTimeout(goOn, PAUSE);
}

wait();
