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

// src/core/vocabulary.ts
var DATA_ENDPOINTS = [
  "integers",
  "bytes",
  "floats",
  "uuid",
  "bitstring",
  "shuffle",
  "batch",
  "sample",
  "weighted",
  "strings",
  "sequences",
  "permutations",
  "gaussians"
];
var OCTET_TYPES = ["int32", "float64", "uuid", "bytes"];
var TEXT_TYPES = ["plain", "csv"];
var BARE_TYPES = [...OCTET_TYPES, ...TEXT_TYPES];

// src/http/pages/code-samples.ts
var CLIENT_METHODS = [...DATA_ENDPOINTS, "certificate", "health", "usage"];
function targetOf(path, given) {
  const query = Object.entries(given).filter(([name]) => !path.includes(`{${name}}`)).map(([name, value]) => `${name}=${encodeURIComponent(String(value)).replaceAll("%2C", ",")}`);
  const filled = path.replaceAll(/\{(\w+)\}/g, (part, name) => String(given[name] ?? part));
  return query.length === 0 ? filled : `${filled}?${query.join("&")}`;
}
function prettyJson(value) {
  return JSON.stringify(value, void 0, 2).replaceAll(
    /\[\n\s+((?:-?[\d.]+(?:e[-+]\d+)?|"[^"\\\n]{0,40}")(?:,\n\s+(?:-?[\d.]+(?:e[-+]\d+)?|"[^"\\\n]{0,40}"))*)\n\s+\]/g,
    (_, members) => `[${members.replaceAll(/,\n\s+/g, ", ")}]`
  );
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
async function checkedAnswer(response) {
  const id = String(member(response, "metadata", "certificate_id"));
  const certificate = made("a", "Open its certificate");
  certificate.setAttribute("href", `/verify/${id}`);
  return [...report(await checkAnswer(id, { response })), certificate];
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
async function attempt(button, shown, work) {
  button.disabled = true;
  try {
    shown.replaceChildren(...await work());
  } catch (error) {
    shown.replaceChildren(troubleBanner(error));
    if (!(error instanceof Trouble)) throw error;
  } finally {
    button.disabled = false;
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

// src/http/pages/client/copy.ts
var COPIED_FOR_MS = 1500;
function offerCopies() {
  for (const button of page.querySelectorAll("button.copy")) {
    button.hidden = clipboard === void 0;
    button.addEventListener("click", () => copy(button));
  }
}
async function copy(button) {
  await clipboard?.writeText(button.closest(".code")?.querySelector("pre")?.textContent ?? "");
  button.textContent = "Copied";
  setTimeout(() => {
    button.textContent = "Copy";
  }, COPIED_FOR_MS);
}

// src/http/pages/client/docs-page.ts
var SHOWN_MAX = 2e4;
offerCopies();
var form = page.getElementById("try-form");
form?.addEventListener("submit", (event) => {
  event.preventDefault();
  send(form);
});
async function send({ dataset }) {
  const { method = "GET", path = "" } = dataset;
  const status = element("try-status");
  const key = page.getElementById("key");
  if (key?.value.trim() === "") {
    status.textContent = "Enter the API key first.";
    key.focus({ preventScroll: false });
    return;
  }
  status.textContent = "Waiting for the answer …";
  const fields = [...page.querySelectorAll("[data-parameter]")];
  const given = fields.map((each) => [each.dataset["parameter"] ?? "", each.value.trim()]);
  const target = targetOf(path, Object.fromEntries(given.filter(([, value]) => value !== "")));
  const body = page.getElementById("body")?.value;
  const headers = {
    Accept: "application/json, */*;q=0.5",
    ...key === null ? {} : { Authorization: `Bearer ${key.value.trim()}` },
    ...body === void 0 ? {} : { "Content-Type": "application/json" }
  };
  try {
    const started = performance.now();
    const init = { method, headers, credentials: "omit" };
    const response = await fetch(target, body === void 0 ? init : { ...init, body });
    show(await response.text(), response.headers.get("Content-Type") ?? "");
    status.textContent = `${response.status} in ${Math.round(performance.now() - started)} ms`;
  } catch (error) {
    status.textContent = `No answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}
function show(text, contentType) {
  const isText = /^text\/|ndjson/.test(contentType);
  const answer = contentType.includes("json") && !isText ? JSON.parse(text) : void 0;
  const shown = answer !== void 0 ? prettyJson(answer) : isText ? text : `(${contentType}, ${text.length} characters)`;
  const rest = shown.length - SHOWN_MAX;
  element("answer").textContent = rest > 0 ? `${shown.slice(0, SHOWN_MAX)}
… and ${rest} characters more` : shown;
  element("reply").hidden = false;
  offerToVerify(answer);
}
function offerToVerify(answer) {
  const button = element("verify");
  const checks = element("checks");
  checks.replaceChildren();
  button.hidden = member(answer, "metadata", "certificate_salt") === void 0;
  button.onclick = () => {
    checks.replaceChildren(made("p", "Checking …"));
    attempt(button, checks, () => checkedAnswer(answer));
  };
}
