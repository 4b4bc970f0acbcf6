// Before anything is drawn: the theme that the reader chose, so that the page does not flash.
try {
  const theme = localStorage.getItem("mathamr-theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the system's theme is shown.
}
