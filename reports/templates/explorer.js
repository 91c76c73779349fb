"use strict";
// The interactive plot: work against error, from the records in the page. Texts are set as text, never as HTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { columns, cases, curves } = data;
  const $ = (name) => document.getElementById(`x-${name}`);
  const svg = $("plot"), detail = $("detail"), legend = $("legend");
  const OK = data.status.indexOf("ok"), TINY = 1e-18, IDLE = detail.textContent;
  const hidden = new Set();
  let points = [], current = -1;

  const element = (name, attributes, parent) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (parent) parent.append(made);
    return made;
  };
  const text = (parent, content, attributes) => { element("text", attributes, parent).textContent = content; };
  const power = (k) => "10" + String(k).replace(/./g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
  const short = (value) => value === null || value === undefined ? "–"
    : Number.isInteger(value) && Math.abs(value) < 1e7 ? String(value) : Number(value.toPrecision(3)) >= 0.01 && value < 1000 ? String(Number(value.toPrecision(3))) : value.toExponential(1).replace(".0e", "e");
  const seconds = (value) => value >= 1 ? `${Number(value.toPrecision(3))} s` : value >= 1e-3 ? `${Number((value * 1e3).toPrecision(3))} ms` : `${Number((value * 1e6).toPrecision(3))} µs`;
  const amount = (name, value) => name === "time" ? seconds(value) : short(value);

  // Controls
  const fill = (name, options) => {
    const kept = $(name).value;
    $(name).replaceChildren(...options.map(([value, label]) => Object.assign(document.createElement("option"), { value, textContent: label })));
    if (options.some(([value]) => String(value) === kept)) $(name).value = kept;
  };
  const distinct = (values) => [...new Set(values)].sort();
  const has = (name, rows) => columns[name] && rows.some((k) => columns[name][k] !== null);
  const rowsOf = (index) => columns.case.flatMap((each, k) => each === index ? [k] : []);
  const tagged = () => cases.map((each, k) => [k, each.name]).filter(([k]) => !$("tag").value || cases[k].tags.includes($("tag").value));

  const fillErrors = () => {
    const rows = rowsOf(Number($("case").value));
    fill("error", Object.entries(data.errors).filter(([name]) => has(name, rows)));
    fill("cost", Object.entries(data.costs).filter(([name]) => has(name, rows)));
  };
  const wanted = (curve, index) => {
    const filter = $("solvers").value, [kind, name] = [filter.slice(0, filter.indexOf(":")), filter.slice(filter.indexOf(":") + 1)];
    if ($("form").value && curve.form !== $("form").value) return false;
    if (filter === "best") return cases[Number($("case").value)].best.includes(index);
    if (filter.startsWith("group ")) return curve.group === filter.slice(6);
    if (kind === "family") return curve.family === name;
    if (kind === "solver") return curve.solver === name;
    return kind !== "tag" || curve.tags.includes(name);
  };

  // Medians over a decade of tolerances, as in reports/curves.py: a lone tolerance at the end joins the decade before,
  // and a decade in which fewer than half of the runs reached the end has none.
  const median = (values) => {
    const logs = values.map(Math.log10).sort((a, b) => a - b), middle = logs.length >> 1;
    return 10 ** (logs.length % 2 ? logs[middle] : (logs[middle - 1] + logs[middle]) / 2);
  };
  const medians = (runs) => {
    const decades = new Map();
    for (const run of runs) {
      const decade = Math.floor(-Math.log10(run.rtol) + 1e-9);
      decades.set(decade, [...(decades.get(decade) || []), run]);
    }
    const last = Math.max(...decades.keys()), before = decades.get(last - 1);
    if (decades.size > 1 && decades.get(last).length === 1 && before && before.length > 1) {
      before.push(...decades.get(last));
      decades.delete(last);
    }
    const spoken = [...decades.keys()].sort((a, b) => a - b).map((decade) => decades.get(decade)).filter((all) => 2 * all.filter((run) => run.ok).length >= all.length);
    return spoken.map((all) => all.filter((run) => run.usable)).filter((inside) => inside.length).map((inside) => {
      const xs = inside.map((run) => run.x), ys = inside.map((run) => run.y);
      return { inside, x: median(xs), y: median(ys), low: Math.min(...ys), high: Math.max(...ys) };
    });
  };
  const selection = () => {
    const index = Number($("case").value), cost = $("cost").value, error = $("error").value;
    const found = new Map();
    for (const k of rowsOf(index)) {
      const curve = columns.curve[k];
      if (!wanted(curves[curve], curve)) continue;
      if (!found.has(curve)) found.set(curve, { curve, asked: [] });
      const x = columns[cost] ? columns[cost][k] : null, y = columns[error] ? columns[error][k] : null;
      const ok = columns.status[k] === OK, usable = ok && x > 0 && y !== null && y >= 0;
      found.get(curve).asked.push({ k, ok, usable, x, y: Math.max(y, TINY), rtol: columns.rtol[k] });
    }
    return [...found.values()].sort((a, b) => a.curve - b.curve).map(({ curve, asked }) => {
      const toleranced = asked.filter((run) => run.rtol > 0);
      return { curve, runs: toleranced.filter((run) => run.usable), failed: asked.filter((run) => !run.ok).length, medians: toleranced.length ? medians(toleranced) : [] };
    });
  };

  // Drawing
  const polygon = (sides, turn, r) => Array.from({ length: sides }, (_, k) => {
    const angle = turn + 2 * Math.PI * k / sides;
    return `${k ? "L" : "M"}${(r * Math.sin(angle)).toFixed(2)} ${(-r * Math.cos(angle)).toFixed(2)}`;
  }).join("") + "Z";
  const cross = (r, turn) => {
    const a = r / 2.6, corners = [[-a, -r], [a, -r], [a, -a], [r, -a], [r, a], [a, a], [a, r], [-a, r], [-a, a], [-r, a], [-r, -a], [-a, -a]];
    return "M" + corners.map(([x, y]) => `${(x * Math.cos(turn) - y * Math.sin(turn)).toFixed(2)} ${(x * Math.sin(turn) + y * Math.cos(turn)).toFixed(2)}`).join("L") + "Z";
  };
  const shape = (marker, r) => ({
    o: `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`, s: polygon(4, Math.PI / 4, r * 1.25), D: polygon(4, 0, r * 1.25), "^": polygon(3, 0, r * 1.25),
    v: polygon(3, Math.PI, r * 1.25), "<": polygon(3, -Math.PI / 2, r * 1.25), ">": polygon(3, Math.PI / 2, r * 1.25), p: polygon(5, 0, r * 1.2), h: polygon(6, 0, r * 1.2),
    P: cross(r * 1.2, 0), X: cross(r * 1.2, Math.PI / 4),
  })[marker] || polygon(8, 0, r);
  const strokes = (curve) => ({ stroke: curve.colour, "stroke-width": curve.ours ? 2.2 : 1.3, "stroke-dasharray": curve.dashes.map((d) => 1.5 * d).join(" "), fill: "none" });
  const mark = (curve, x, y, parent) => element("path", { d: shape(curve.marker, 4), transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, fill: curve.face, stroke: curve.colour, "stroke-width": 1.3 }, parent);

  const range = (values) => {
    const logs = values.map(Math.log10), low = Math.min(...logs), high = Math.max(...logs), pad = Math.max(0.15, 0.04 * (high - low));
    return [low - pad, high + pad];
  };
  const ticks = ([low, high], most) => { // powers of ten; 2 and 5 times them where there are few
    const every = Math.max(1, Math.ceil((high - low) / most)), found = [];
    for (let k = Math.floor(low / every) * every; k <= high; k += every) {
      for (const leading of high - low < 1.7 ? [1, 2, 5] : [1]) {
        const place = k + Math.log10(leading);
        if (place >= low && place <= high) found.push([10 ** place, (leading > 1 ? `${leading}·` : "") + power(k)]);
      }
    }
    return found;
  };
  const floorOf = () => {
    const found = cases[Number($("case").value)], error = $("error").value;
    if (error === "mixed") return found.mixed;
    return error.startsWith("error_") ? found.floors[error.split(".").slice(1).join(".")] ?? null : null;
  };

  const draw = () => {
    const shown = selection();
    drawLegend(shown);
    const visible = shown.filter((each) => !hidden.has(each.curve) && each.medians.length);
    const width = Math.max(280, svg.clientWidth || 640), height = Math.min(480, Math.max(320, 0.62 * width));
    const box = { left: 56, right: 12, top: 12, bottom: 46 };
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.style.height = `${height}px`;
    svg.replaceChildren();
    points = [];
    current = -1;
    detail.textContent = visible.length ? IDLE : "Nothing to show: no run of this selection reached the end and has both numbers.";
    if (!visible.length) return;
    const floor = floorOf(), all = visible.flatMap((each) => each.runs), yRange = range(all.map((run) => run.y)), xRange = range(all.map((run) => run.x));
    const reversed = $("cost").value === "rtol";
    const px = (x) => { const part = (Math.log10(x) - xRange[0]) / (xRange[1] - xRange[0]); return box.left + (reversed ? 1 - part : part) * (width - box.left - box.right); };
    const py = (y) => height - box.bottom - (Math.log10(y) - yRange[0]) / (yRange[1] - yRange[0]) * (height - box.top - box.bottom);
    const grid = element("g", { class: "grid" }, svg);
    for (const [x, label] of ticks(xRange, width / 70)) {
      element("path", { d: `M${px(x).toFixed(1)} ${box.top}V${height - box.bottom}` }, grid);
      text(svg, label, { x: px(x), y: height - box.bottom + 17, "text-anchor": "middle" });
    }
    for (const [y, label] of ticks(yRange, height / 36)) {
      element("path", { d: `M${box.left} ${py(y).toFixed(1)}H${width - box.right}` }, grid);
      text(svg, label, { x: box.left - 7, y: py(y) + 4, "text-anchor": "end" });
    }
    text(svg, data.costs[$("cost").value], { x: (box.left + width - box.right) / 2, y: height - 8, "text-anchor": "middle", class: "axis" });
    text(svg, data.errors[$("error").value], { transform: `translate(13 ${(height - box.bottom + box.top) / 2}) rotate(-90)`, "text-anchor": "middle", class: "axis" });
    if (floor && Math.log10(floor) > yRange[0]) {
      element("path", { d: `M${box.left} ${py(floor).toFixed(1)}H${width - box.right}`, class: "floor" }, svg);
      text(svg, `reference: ${cases[Number($("case").value)].digits} digits`, { x: width - box.right, y: py(floor) - 5, "text-anchor": "end", class: "floor-text" });
    }
    for (const each of visible) drawCurve(each, px, py);
    element("circle", { r: 8, class: "ring", visibility: "hidden" }, svg);
  };
  const drawCurve = (each, px, py) => {
    const curve = curves[each.curve], group = element("g", { "data-curve": curve.name }, svg), start = points.length;
    if ($("single").checked) element("path", { d: each.runs.map((run) => `M${px(run.x).toFixed(1)} ${py(run.y).toFixed(1)}h0`).join(""), class: "dots", stroke: curve.colour }, group);
    element("path", { d: each.medians.map((m) => `M${px(m.x).toFixed(1)} ${py(m.low).toFixed(1)}V${py(m.high).toFixed(1)}`).join(""), class: "bars", stroke: curve.colour }, group);
    element("path", { d: each.medians.map((m, k) => `${k ? "L" : "M"}${px(m.x).toFixed(1)} ${py(m.y).toFixed(1)}`).join(""), ...strokes(curve) }, group);
    for (const m of each.medians) {
      mark(curve, px(m.x), py(m.y), group);
      points.push({ curve: each.curve, x: px(m.x), y: py(m.y), median: m, start });
    }
    if ($("single").checked) for (const run of each.runs) points.push({ curve: each.curve, x: px(run.x), y: py(run.y), run, start });
  };
  const drawLegend = (shown) => {
    legend.replaceChildren(Object.assign(document.createElement("legend"), { textContent: `Curves (${shown.length})` }), ...shown.map((each) => {
      const curve = curves[each.curve], label = document.createElement("label"), box = Object.assign(document.createElement("input"), { type: "checkbox", checked: !hidden.has(each.curve) });
      box.addEventListener("change", () => { box.checked ? hidden.delete(each.curve) : hidden.add(each.curve); draw(); legend.querySelectorAll("input")[shown.indexOf(each)].focus(); });
      const swatch = element("svg", { viewBox: "0 0 44 12", width: 44, height: 12, "aria-hidden": "true" });
      element("path", { d: "M0 6H44", ...strokes(curve) }, swatch);
      mark(curve, 22, 6, swatch);
      const failed = each.failed ? ` (${each.failed} failed)` : each.medians.length ? "" : " (no value)";
      label.append(box, swatch, Object.assign(document.createElement("span"), { textContent: curve.name + failed, className: each.medians.length ? "" : "dim" }));
      return label;
    }));
  };

  // Reading values
  const describe = (point) => {
    const cost = $("cost").value, name = curves[point.curve].name, problem = cases[Number($("case").value)].name;
    if (point.median) {
      const m = point.median, tolerances = m.inside.map((run) => run.rtol);
      const span = tolerances.length > 1 ? `${tolerances.length} runs, rtol ${short(Math.max(...tolerances))} to ${short(Math.min(...tolerances))}` : `one run, rtol ${short(tolerances[0])}`;
      return `${name} on ${problem}: median of ${span}: error ${short(m.y)} (${short(m.low)} to ${short(m.high)}), ${data.costs[cost].replace(" (s)", "")} ${amount(cost, m.x)}.`;
    }
    const k = point.run.k, value = (column) => columns[column] ? columns[column][k] : null;
    const counts = [["nstep", "steps"], ["nreject", "rejected"], ["nfev", "evaluations"], ["ngev", "of constraints"], ["njev", "Jacobians"], ["nlu", "factorisations"]]
      .filter(([column]) => value(column) !== null).map(([column, words]) => `${value(column)} ${words}`).join(", ");
    return `${name} on ${problem}, one run, rtol ${short(point.run.rtol)}: error ${short(point.run.y)}, CPU time ${value("time") ? seconds(value("time")) : "–"}, ${counts}.`;
  };
  const show = (place) => {
    current = place;
    const ring = svg.querySelector(".ring");
    if (!ring) return;
    ring.setAttribute("visibility", place < 0 ? "hidden" : "visible");
    for (const group of svg.querySelectorAll("[data-curve]")) group.classList.toggle("faint", place >= 0 && group.dataset.curve !== curves[points[place].curve].name);
    if (place < 0) { detail.textContent = IDLE; return; }
    ring.setAttribute("cx", points[place].x);
    ring.setAttribute("cy", points[place].y);
    detail.textContent = describe(points[place]);
  };
  const point = (event) => {
    const frame = svg.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
    let best = -1, least = 26 ** 2;
    points.forEach((point, k) => {
      const distance = (point.x - x) ** 2 + (point.y - y) ** 2 - (point.median ? 9 : 0);
      if (distance < least) [best, least] = [k, distance];
    });
    if (best !== current) show(best);
  };
  svg.addEventListener("pointermove", point);
  svg.addEventListener("pointerdown", point);
  svg.addEventListener("pointerleave", () => show(-1));
  svg.addEventListener("blur", () => show(-1));
  svg.addEventListener("keydown", (event) => {
    const jump = { ArrowRight: 1, ArrowLeft: -1 }[event.key], change = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") show(-1);
    if (!points.length || (!jump && !change)) return;
    event.preventDefault();
    if (current < 0) return show(0);
    if (jump) return show((current + jump + points.length) % points.length);
    const starts = distinct(points.map((point) => point.start)).sort((a, b) => a - b), at = starts.indexOf(points[current].start);
    show(starts[(at + change + starts.length) % starts.length]);
  });

  // Start
  fill("tag", [["", "all"], ...distinct(cases.flatMap((each) => each.tags)).map((name) => [name, name])]);
  fill("case", tagged());
  fill("form", [["", "all"], ...distinct(curves.map((each) => each.form)).map((name) => [name, name])]);
  fill("solvers", [["best", "best of each family"], ["all", "all"], ["group half-explicit", "half-explicit"], ["group our implicit", "our implicit"], ["group foreign", "foreign"],
    ...distinct(curves.map((each) => each.family)).map((name) => [`family:${name}`, `family ${name}`]),
    ...distinct(curves.flatMap((each) => each.tags)).map((name) => [`tag:${name}`, `tag ${name}`]),
    ...distinct(curves.map((each) => each.solver)).map((name) => [`solver:${name}`, name])]);
  const preferred = cases.findIndex((each) => each.name === "pendulum");
  if (preferred >= 0) $("case").value = String(preferred);
  fillErrors();
  $("tag").addEventListener("change", () => { fill("case", tagged()); fillErrors(); draw(); });
  $("case").addEventListener("change", () => { fillErrors(); draw(); });
  for (const name of ["cost", "error", "form", "solvers", "single"]) $(name).addEventListener("change", draw);
  $("plot").closest(".explorer").querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  let wide = 0;
  new ResizeObserver(() => { if (svg.clientWidth !== wide) { wide = svg.clientWidth; draw(); } }).observe(svg);
  draw();

  // Folded parts open when a link leads to them, and all of them on paper.
  const reveal = () => { const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1))); if (target && target.tagName === "DETAILS") target.open = true; };
  addEventListener("hashchange", reveal);
  reveal();
})();
