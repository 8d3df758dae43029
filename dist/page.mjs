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
async function showCheck(button, check) {
  const result = element("result");
  result.setAttribute("aria-busy", "true");
  result.replaceChildren(made("p", "Checking…"));
  try {
    await attempt(button, result, async () => report(await check()));
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

// src/http/pages/client/check-form.ts
function offerCheck(form) {
  const [answer, file, button] = ["answer", "file", "check-button"].map(element);
  const run = (read) => showCheck(
    button,
    async () => verify(await read(), await octetsGiven(), form.dataset["certificate"] ?? "")
  );
  const take = (text) => run(async () => {
    answer.value = await text;
    return answer.value;
  });
  button.disabled = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run(async () => answer.value);
  });
  element("sample-button").addEventListener("click", () => take(sampleAnswer()));
  file.addEventListener("change", () => {
    const chosen = file.files?.[0];
    if (chosen !== void 0) take(chosen.text());
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
    if (dropped !== void 0) take(dropped.text());
    else answer.value = event.dataTransfer?.getData("text/plain") ?? "";
  });
}
async function octetsGiven() {
  const chosen = element("octets").files?.[0];
  return chosen === void 0 ? void 0 : new Uint8Array(await chosen.arrayBuffer());
}
async function verify(text, octets, ofPage) {
  if (octets !== void 0) return verifyOctets(text.trim(), octets, ofPage);
  const pasted = text.trim() === "" ? void 0 : parsed(text);
  if (member(pasted, "error") !== void 0 && member(pasted, "data") === void 0) {
    throw new Trouble(
      "This is an error message of the service and not an answer. It has no values and no certificate."
    );
  }
  if (member(pasted, "type") === "draw") return checkDraw(pasted);
  const isCertificate = member(pasted, "certificate") !== void 0 && member(pasted, "data") === void 0;
  if (isCertificate) return checkAnswer("", { certificate: pasted });
  return checkAnswer(idFor(pasted, ofPage), pasted === void 0 ? {} : { response: pasted });
}
async function verifyOctets(text, octets, ofPage) {
  if (/^[0-9a-f]{64}$/.test(text)) return checkAnswer(idFor(void 0, ofPage), { salt: text, octets });
  const { fieldsOf, responseOfFields } = await import("./qrn-verify.mjs");
  const response = responseOfFields(fieldsOf(text));
  if (member(response, "metadata", "certificate_salt") === void 0) {
    throw new Trouble(
      "Paste the headers of the answer, including X-Certificate-Salt, or only the value of X-Certificate-Salt."
    );
  }
  return checkAnswer(idFor(response, ofPage), { response, octets });
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
function idFor(response, ofPage) {
  if (ofPage !== "") return ofPage;
  if (response === void 0) throw new Trouble("Paste the answer first.");
  const named = member(response, "metadata", "certificate_id");
  if (typeof named !== "string" || !CERTIFICATE_ID.test(named))
    throw new Trouble("The answer names no certificate in metadata.certificate_id.");
  return named;
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
  const code = button.closest(".code")?.querySelector("pre")?.textContent ?? "";
  const isCopied = await clipboard?.writeText(code).then(
    () => true,
    () => false
    // the browser does not let the page write to the clipboard
  );
  button.textContent = isCopied ? "Copied" : "Not allowed";
  setTimeout(() => {
    button.textContent = "Copy";
  }, COPIED_FOR_MS);
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

// src/http/pages/client/die.ts
function offerThrow(button) {
  const checks = element("die-checks");
  button.addEventListener("click", () => {
    checks.replaceChildren(made("p", "Asking …"));
    attempt(button, checks, async () => {
      const answer = JSON.parse(await sampleAnswer());
      const [value] = member(answer, "data", "values");
      const die = element("die");
      die.setAttribute("data-value", String(value));
      die.setAttribute("aria-label", `The die shows ${value}`);
      element("die-answer").textContent = prettyJson(answer);
      checks.replaceChildren(made("p", "Checking …"));
      return checkedAnswer(answer);
    });
  });
}

// src/http/pages/client/draw-check.ts
function offerDrawCheck(button) {
  button.disabled = false;
  button.addEventListener("click", () => {
    showCheck(button, async () => checkDraw(await fetched(`/v1/draws/${button.dataset["draw"]}`)));
  });
  const countdown = page.getElementById("countdown");
  if (countdown === null) return;
  const dueMs = Date.parse(countdown.dataset["due"] ?? "");
  const count = () => {
    const leftS = Math.max(0, Math.ceil((dueMs - Date.now()) / 1e3));
    countdown.textContent = leftS === 0 ? "Now. Reload this page to see the outcome." : `in ${spanText(leftS)}`;
    if (leftS === 0) clearInterval(timer);
  };
  const timer = setInterval(count, 1e3);
  count();
}
function spanText(seconds) {
  const parts = [
    [Math.floor(seconds / 86400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"]
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  return parts.slice(first).map(([amount, unit]) => `${amount} ${unit}`).join(" ");
}

// src/http/pages/client/refresh.ts
var INTERVAL_MS = 2e3;
var { XMLHttpRequest } = globalThis;
function keepFresh() {
  setInterval(() => {
    const request = new XMLHttpRequest();
    request.open("GET", "/status");
    request.responseType = "document";
    request.onloadend = () => {
      const fresh = request.response?.getElementById("main") ?? null;
      if (fresh !== null) update(element("main"), fresh);
      element("freshness").textContent = fresh === null ? "; the service does not answer now." : ", updated automatically.";
    };
    request.send();
  }, INTERVAL_MS);
}
function update(shown, fresh) {
  if (shown.isEqualNode(fresh)) return;
  const parts = [...fresh.childNodes];
  const hasSameFrame = shown.cloneNode(false).isEqualNode(fresh.cloneNode(false));
  if (!hasSameFrame || parts.length === 0 || parts.length !== shown.childNodes.length) {
    shown.replaceWith(fresh);
    return;
  }
  for (const [i, part] of parts.entries()) update(shown.childNodes[i], part);
}

// src/http/pages/client/try-form.ts
var SHOWN_MAX = 2e4;
function offerToSend(form) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}
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

// src/http/pages/client/page.ts
offerCopies();
for (const [selector, start] of [
  ["form#check", offerCheck],
  ["button#check-draw", offerDrawCheck],
  ["button#die-button", offerThrow],
  ["form#try-form", offerToSend],
  ["span#as-of", keepFresh]
])
  for (const found of page.querySelectorAll(selector)) start(found);
