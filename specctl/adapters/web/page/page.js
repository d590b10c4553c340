"use strict";
// Runs before textual.js: that has no way to be told any of this.

// Styles that the terminal makes bear the nonce of the page, so that no others are needed.
const nonce = document.currentScript.nonce;
const create = document.createElement.bind(document);
document.createElement = (name, options) => {
  const element = create(name, options);
  if (String(name).toLowerCase() === "style") element.nonce = nonce;
  return element;
};

// Without WebGL it colours text through this attribute, which the policy forbids; the property it does not.
const setAttribute = Element.prototype.setAttribute;
Element.prototype.setAttribute = function (name, value) {
  if (name === "style") this.style.cssText = value;
  else setAttribute.call(this, name, value);
};

let isOpen = false;

window.WebSocket = class extends WebSocket {
  constructor(...words) {
    super(...words);
    this.addEventListener("open", () => {
      isOpen = true;
    });
    this.addEventListener(
      "message",
      () => document.querySelector(".xterm-helper-textarea").focus(),
      { once: true },
    );
    this.addEventListener("close", (event) => {
      isOpen = false;
      const words = event.reason || (event.wasClean ? "" : "specctl web does not answer.");
      if (words) document.querySelector("#reason").textContent = words;
      document.querySelector("#again").focus();
    });
  }
};

// Ctrl+W and Ctrl+T are the browser's: what closes the screen by a slip is asked about.
window.addEventListener("beforeunload", (event) => {
  if (isOpen) event.preventDefault();
});

document.addEventListener("DOMContentLoaded", () => {
  const socket = new URL("ws", window.location.href);
  socket.protocol = socket.protocol.replace("http", "ws");
  document.querySelector("#terminal").dataset.sessionWebsocketUrl = socket.href;
  document.querySelector("#again").addEventListener("click", () => window.location.reload());
});
