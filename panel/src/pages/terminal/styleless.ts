// xterm.js writes <style> elements and style attributes, which the Content-Security-Policy forbids. Constructed style sheets and
// properties of `element.style` have the same effect, and are allowed.

const setAttribute = Element.prototype.setAttribute;
Element.prototype.setAttribute = function (name: string, value: string) {
  if (name === "style" && this instanceof HTMLElement) this.style.cssText = value;
  else setAttribute.call(this, name, value);
};

/** While this runs, an element `style` that is made is one whose text becomes a constructed style sheet. */
export function styleless(work: () => void): void {
  const made = document.createElement;
  document.createElement = (name: string, options?: ElementCreationOptions) =>
    name === "style" ? sheetElement(made.call(document, "template")) : made.call(document, name, options);
  try {
    work();
  } finally {
    document.createElement = made;
  }
}

function sheetElement(element: HTMLElement): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  Object.defineProperty(element, "textContent", { set: (text: string) => sheet.replaceSync(text) });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
    HTMLElement.prototype.remove.call(element);
  };
  return element;
}
