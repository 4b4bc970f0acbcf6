// Light or dark: what the system says, until the reader says otherwise.

const KEY = "mathamr-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

/** Shows the chosen theme and lets a button change it. */
export function startTheme(button) {
  show(stored(), button);
  button.addEventListener("click", () => {
    const next = current() === "dark" ? "light" : "dark";
    try {
      // Going back to what the system says means following it again.
      if (next === (system.matches ? "dark" : "light")) localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, next);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    show(next, button);
  });
  system.addEventListener("change", () => show(stored(), button));
}

function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function current() {
  return document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light");
}

function show(theme, button) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  const name = current() === "dark" ? "Light theme" : "Dark theme";
  button.setAttribute("aria-label", name);
  button.title = name;
}
