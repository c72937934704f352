// Every control of a view is reached by Tab, shows that it has the focus, and lets it go.
import assert from "node:assert/strict";
import { clean, gecko } from "./harness.mjs";
import { viewsOf } from "./views.mjs";

/** reach presses Tab through a page and names the controls that it has not come to, or that hide the focus. */
async function reach(page) {
  const many = await page.evaluate(() => {
    const all = "a[href],button,input,select,textarea,summary,[tabindex='0'],[contenteditable='true']";
    const list = [...document.querySelectorAll(all)].filter(
      (e) => !e.disabled && e.tabIndex >= 0 && e.checkVisibility({ visibilityProperty: true }) && e.type !== "radio",
    );
    window.controls = new Set(list);
    window.hidden = [];
    document.activeElement?.blur();
    window.getSelection()?.removeAllRanges();
    return list.length;
  });
  for (let i = 0; i < many + 10; i++) {
    await page.keyboard.press("Tab");
    const left = await page.evaluate(() => {
      const e = document.activeElement;
      if (e && e !== document.body) {
        const s = getComputedStyle(e);
        if (window.controls.delete(e) && s.outlineStyle === "none" && s.boxShadow === "none")
          window.hidden.push(e.outerHTML.slice(0, 120));
      }
      for (const gone of window.controls) if (!gone.isConnected) window.controls.delete(gone);
      return window.controls.size;
    });
    if (!left) break;
  }
  return page.evaluate(() => ({
    missed: [...window.controls].map((e) => e.outerHTML.slice(0, 120)),
    hidden: window.hidden,
  }));
}

export async function byKeyboard(page, c) {
  for (const path of viewsOf(c).short) {
    await page.go(path);
    const { missed, hidden } = await reach(page);
    assert.deepEqual(missed, [], `${path}: not reached by Tab`);
    // Firefox, driven, takes keys that follow a focus by script for no keys, and shows none.
    if (!gecko) assert.deepEqual(hidden, [], `${path}: has the focus and does not show it`);
  }
  clean(page, "by keyboard");
}
