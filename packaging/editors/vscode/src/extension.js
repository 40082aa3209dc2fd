// extension.js: starts `relaxc lsp` and connects the editor to it. All else is in the server.
"use strict";

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const settings = workspace.getConfiguration("relaxc");
  const server = { command: settings.get("path"), args: ["lsp", ...settings.get("flags")] };
  const documentSelector = [{ language: "relax" }, { language: "relaxc-schedules" }];
  client = new LanguageClient("relaxc", "relaxc", server, { documentSelector });
  return client.start();
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
