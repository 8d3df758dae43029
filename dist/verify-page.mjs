// src/core/json.ts
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// src/certificate/members.ts
function member(value, ...path) {
  let found = value;
  for (const name of path) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : void 0;
  return found;
}

// src/http/pages/client/verify-page.ts
import { fieldsOf, responseOfFields } from "./qrn-verify.mjs";

// src/core/ids.ts
var CERTIFICATE_ID = /^cert_[0-9a-hjkmnp-tv-z]{26}$/;

// src/core/repeated-member.ts
var TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}]/g;
var COLON = /[\t\n\r ]*:/y;
function repeatedMember(text) {
  const open = [];
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === "{") open.push(/* @__PURE__ */ new Set());
    else if (token === "}") open.pop();
    else {
      COLON.lastIndex = index + token.length;
      if (!COLON.test(text)) continue;
      const name = token.includes("\\") ? JSON.parse(token) : token.slice(1, -1);
      const names = open[open.length - 1];
      if (names.has(name)) return name;
      names.add(name);
    }
  }
  return void 0;
}

// src/http/pages/client/browser.ts
var { document, navigator } = globalThis;
var page = document;
var clipboard = navigator.clipboard;
function element(id) {
  const found = page.getElementById(id);
  if (found === null) throw new Error(`the page has no element #${id}`);
  return found;
}
function banner(kind, title, text) {
  const words = made("p");
  words.append(made("strong", title), ` ${text}`);
  const box = made("div");
  box.className = `banner ${kind}`;
  box.append(words);
  return box;
}
function made(name, text = "") {
  const node = page.createElement(name);
  node.textContent = text;
  return node;
}

// src/http/pages/client/checks.ts
var PROOF_ATTEMPTS = 10;
var PROOF_WAIT_MS = 500;
var Trouble = class extends Error {
  name = "Trouble";
};
async function checkAnswer(id, given) {
  const { verifyAnswer } = await import("./qrn-verify.mjs");
  const [certificate, keys] = await Promise.all([given.certificate ?? certificateOf(id), keysOfLog()]);
  const verification = await verifyAnswer({ ...given, certificate, keys, ...await witnessesGiven() });
  const isAlone = given.response === void 0 && given.octets === void 0;
  const status = member(certificate, "certificate", "status");
  return { verification, subject: isAlone ? "certificate" : "answer", status };
}
async function sampleAnswer() {
  const response = await fetch("/demo/die", { method: "POST", credentials: "omit" });
  const text = await response.text();
  if (response.ok) return text;
  throw new Trouble(
    `The service refused the request: ${String(member(JSON.parse(text), "error", "message"))}`
  );
}
async function checkDraw(draw) {
  const { verifyDraw } = await import("./qrn-verify.mjs");
  const witnesses = await witnessesGiven();
  const verification = await verifyDraw({ draw, keys: await keysOfLog(), ...witnesses, nowMs: Date.now() });
  return { verification, subject: "draw", status: member(draw, "certificate", "certificate", "status") };
}
async function witnessesGiven() {
  const [keys, quorum] = ["witnesses", "quorum"].map((id) => page.getElementById(id)?.value.trim() ?? "");
  if (keys === "" && quorum === "") return {};
  const { readWitnessPolicy } = await import("./qrn-verify.mjs");
  const policy = readWitnessPolicy(keys, quorum);
  if (typeof policy === "string") throw new Trouble(`Witnesses: ${policy}.`);
  return { witnesses: policy };
}
async function certificateOf(id) {
  for (let attempt2 = 1; ; attempt2++) {
    const certificate = await fetched(`/verify/${id}`);
    if (member(certificate, "certificate", "proof") !== null || attempt2 === PROOF_ATTEMPTS)
      return certificate;
    await new Promise((resolve) => setTimeout(resolve, PROOF_WAIT_MS));
  }
}
function keysOfLog() {
  return fetched("/.well-known/qrn-keys.json");
}
async function fetched(path) {
  let response;
  try {
    response = await fetch(path, { headers: { accept: "application/json" } });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Trouble(`The service could not be reached (${error.message}).`);
  }
  if (response.status === 404) throw new Trouble("This service has no certificate with this identifier.");
  if (!response.ok) throw new Trouble(`The service answered ${response.status} for ${path}.`);
  return response.json();
}
async function attempt(button2, shown, work) {
  button2.disabled = true;
  try {
    shown.replaceChildren(...await work());
  } catch (error) {
    shown.replaceChildren(troubleBanner(error));
    if (!(error instanceof Trouble)) throw error;
  } finally {
    button2.disabled = false;
  }
}
async function showCheck(button2, check) {
  const result = element("result");
  result.setAttribute("aria-busy", "true");
  result.replaceChildren(made("p", "Checking…"));
  try {
    await attempt(button2, result, async () => report(await check()));
  } finally {
    result.setAttribute("aria-busy", "false");
    result.focus({ preventScroll: true });
    result.scrollIntoView({ block: "nearest" });
  }
}
function report({ verification, subject, status }) {
  const { checks, notCovered } = verification;
  const isDraw = verification.ok && "standing" in verification;
  const verdict = isDraw ? drawSummary(verification) : summary(checks, subject, status);
  const details = made("details");
  details.className = "exact";
  if (checks.some((check) => !check.ok)) details.setAttribute("open", "");
  const title = made("summary");
  title.append(made("span", "What was checked"));
  details.append(title, list(checks));
  if (notCovered.length > 0) {
    const hint = made("p", `The certificate does not cover: ${notCovered.join(", ")}.`);
    hint.className = "hint";
    details.append(hint);
  }
  return [verdict, details];
}
function troubleBanner(error) {
  const isTold = error instanceof Trouble;
  return banner("bad", "Not checked.", isTold ? error.message : `The check itself failed: ${String(error)}`);
}
function drawSummary({ standing, advice }) {
  if (advice === void 0) return banner("good", "Verified.", "The draw ended as its statement promised.");
  return banner(standing === "pending" ? "wait" : "bad", STANDINGS[standing], advice);
}
var STANDINGS = {
  revealed: "Verified.",
  pending: "Pending: genuine so far.",
  overdue: "Overdue: it has no result.",
  cancelled: "Cancelled: genuine, without a result.",
  failed: "Failed: genuine, without a result."
};
function summary(checks, subject, status) {
  const failed = checks.filter((check) => !check.ok);
  if (failed.length === 0 && subject === "certificate")
    return banner("good", "The certificate is valid.", "Paste the answer to check its values too.");
  if (failed.length === 0) return banner("good", "Verified.", "These are the certified values.");
  if (status === "revoked" && failed.every((check) => check.name === "status"))
    return banner(
      "bad",
      "Genuine, but revoked.",
      "This is what was certified, but the operator has since withdrawn one of its lots."
    );
  const count = `${failed.length} of ${checks.length} checks failed.`;
  return banner("bad", count, `Do not rely on this ${subject}.`);
}
function list(checks) {
  const items = made("ul");
  for (const { name, ok, why } of checks) {
    const item = made("li");
    item.className = ok ? "holds good" : "fails bad";
    const words = made("div");
    words.append(made("strong", name), made("p", why));
    item.append(made("span", ok ? "✓ holds" : "✗ fails"), words);
    items.append(item);
  }
  return items;
}

// src/http/pages/client/verify-page.ts
var form = element("check");
var answer = element("answer");
var file = element("file");
var octetsFile = element("octets");
var button = element("check-button");
button.disabled = false;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  run(async () => answer.value);
});
element("sample-button").addEventListener("click", () => {
  run(async () => {
    answer.value = await sampleAnswer();
    return answer.value;
  });
});
file.addEventListener("change", () => {
  const chosen = file.files?.[0];
  if (chosen !== void 0) take(chosen);
});
form.addEventListener("dragover", (event) => {
  event.preventDefault();
  form.className = "over";
});
form.addEventListener("dragleave", () => {
  form.className = "";
});
form.addEventListener("drop", (event) => {
  event.preventDefault();
  form.className = "";
  const dropped = event.dataTransfer?.files[0];
  if (dropped !== void 0) take(dropped);
  else answer.value = event.dataTransfer?.getData("text/plain") ?? "";
});
function take(chosen) {
  run(async () => {
    answer.value = await chosen.text();
    return answer.value;
  });
}
function run(read) {
  return showCheck(button, async () => verify(await read(), await octetsGiven()));
}
async function octetsGiven() {
  const chosen = octetsFile.files?.[0];
  return chosen === void 0 ? void 0 : new Uint8Array(await chosen.arrayBuffer());
}
async function verify(text, octets) {
  if (octets !== void 0) return verifyOctets(text.trim(), octets);
  const pasted = text.trim() === "" ? void 0 : parsed(text);
  if (member(pasted, "error") !== void 0 && member(pasted, "data") === void 0) {
    throw new Trouble(
      "This is an error message of the service and not an answer. It has no values and no certificate."
    );
  }
  if (member(pasted, "type") === "draw") return checkDraw(pasted);
  const isCertificate = member(pasted, "certificate") !== void 0 && member(pasted, "data") === void 0;
  if (isCertificate) return checkAnswer("", { certificate: pasted });
  return checkAnswer(idFor(pasted), pasted === void 0 ? {} : { response: pasted });
}
async function verifyOctets(text, octets) {
  if (/^[0-9a-f]{64}$/.test(text)) return checkAnswer(idFor(void 0), { salt: text, octets });
  const response = responseOfFields(fieldsOf(text));
  if (member(response, "metadata", "certificate_salt") === void 0) {
    throw new Trouble(
      "Paste the headers of the answer, including X-Certificate-Salt, or only the value of X-Certificate-Salt."
    );
  }
  return checkAnswer(idFor(response), { response, octets });
}
function parsed(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Trouble(
      `This is not JSON (${error.message}). Paste the complete body of the answer, as you received it.`
    );
  }
  const repeated = repeatedMember(text);
  if (repeated === void 0) return value;
  throw new Trouble(
    `An object in it has two members ${JSON.stringify(repeated)}, and programs differ in which one they read.`
  );
}
function idFor(response) {
  const ofPage = form.dataset["certificate"];
  if (ofPage !== void 0 && ofPage !== "") return ofPage;
  if (response === void 0) throw new Trouble("Paste the answer first.");
  const named = member(response, "metadata", "certificate_id");
  if (typeof named !== "string" || !CERTIFICATE_ID.test(named))
    throw new Trouble("The answer names no certificate in metadata.certificate_id.");
  return named;
}
