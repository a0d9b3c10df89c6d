// Colours the marks by another metric, says what is at each, and leaves panels out. Without it the page stands as it is.
(function () {
  "use strict";
  var doc = document, data = JSON.parse(doc.getElementById("data").textContent);
  var map = doc.getElementById("map"), tip = doc.getElementById("tip"), pick = doc.getElementById("metric");
  var ratio = doc.getElementById("relative"), legend = doc.querySelector("#legend g");
  var SHADES = 50, svgns = "http://www.w3.org/2000/svg";
  var panels = [].slice.call(map.querySelectorAll("figure.panel")), marks = [].slice.call(map.querySelectorAll(".m"));
  var options = [].slice.call(pick.options).map(function (option, i) {
    var isMain = ["latency_s", "energy_j", "edp_js", "utilization", "area_mm2"].indexOf(option.value) >= 0;
    return { name: option.text, unit: option.dataset.unit, better: +option.dataset.better, isMain: isMain, values: null, at: i };
  });
  var nx = data.x.length, ny = data.y.length, place = new Map(), cell = {}, current = null, shown;

  function values(option) {
    if (!option.values) {
      var text = atob(data.value[option.at]), bytes = new Uint8Array(text.length), view = new DataView(bytes.buffer);
      for (var i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
      option.values = new Float64Array(text.length / 8);
      for (i = 0; i < option.values.length; i++) option.values[i] = view.getFloat64(8 * i, true);
    }
    return option.values;
  }

  // ---- numbers, as the page has them

  function si(value, unit) {
    var prefix = "afpnum kMGTPE", step = Math.max(-6, Math.min(6, Math.floor(Math.log10(Math.abs(value)) / 3)));
    if (value === 0) return "0 " + unit;
    value /= Math.pow(10, 3 * step);
    if (Math.abs(value) >= 999.5 && step < 6) { value /= 1000; step++; }
    var size = Math.abs(value);
    return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2) + " " + (step ? prefix[step + 6] : "") + unit;
  }

  function bytes(value) {
    var unit = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], i = 0;
    for (; value >= 1023.95 && i < 5; i++) value /= 1024;
    return value.toFixed(i === 0 || value === Math.floor(value) ? 0 : 1) + " " + unit[i];
  }

  function number(value, unit) {
    if (!isFinite(value)) return "-";
    if (unit === "byte") return bytes(value);
    if (["s", "J", "J s", "W", "Hz", "byte/s"].indexOf(unit) >= 0) return si(value, unit === "byte/s" ? "B/s" : unit);
    var text = value === Math.floor(value) && value >= 0 && value < 1e15
      ? String(value).replace(/\B(?=(\d{3})+$)/g, ",") : String(+value.toPrecision(4));
    return text + (unit === "1" ? "" : " " + unit);
  }

  // With as many digits as there are, and the unit that `number` takes.
  function tickText(value, unit) {
    var word = number(value, unit).split(" "), plain = unit === "byte" ? "B" : unit === "byte/s" ? "B/s" : unit;
    if (word.length < 2) return String(+value.toPrecision(6));
    var shown = word.slice(1).join(" "), prefix = shown.length > plain.length ? shown[0] : " ";
    var factor = unit === "byte" ? Math.pow(1024, " KMGTP".indexOf(prefix)) : Math.pow(10, 3 * ("afpnum kMGTPE".indexOf(prefix) - 6));
    return +(value / factor).toPrecision(6) + " " + shown;
  }

  // ---- the scale of colours

  // By group the best value.
  function bests(of) {
    var best = [];
    of.forEach(function (value, i) {
      var group = data.group.length ? data.group[i] : 0;
      if (!isNaN(value) && (best[group] === undefined || shown.better * value > shown.better * best[group])) best[group] = value;
    });
    return best;
  }

  function scaleOf(list) {
    var low = Infinity, high = -Infinity;
    list.forEach(function (value) { if (!isNaN(value)) { low = Math.min(low, value); high = Math.max(high, value); } });
    if (low > high) { low = 0; high = 1; }
    if (low === high) {
      var room = low === 0 ? 1 : 0.1 * Math.abs(low);
      return { low: low - room, high: low + room, log: false };
    }
    return { low: low, high: high, log: low > 0 && high / low > 6 };
  }

  function placeOn(scale, value) {
    return scale.log ? Math.log(value / scale.low) / Math.log(scale.high / scale.low) : (value - scale.low) / (scale.high - scale.low);
  }

  function ticks(scale) {
    var list = [], i, step;
    if (scale.log) {
      var steps = Math.log10(scale.high / scale.low) > 3 ? [1] : [1, 2, 5];
      for (i = Math.floor(Math.log10(scale.low)); i <= Math.ceil(Math.log10(scale.high)); i++)
        steps.forEach(function (s) {
          var value = s * Math.pow(10, i);
          if (value >= scale.low * (1 - 1e-9) && value <= scale.high * (1 + 1e-9)) list.push(value);
        });
      step = Math.ceil(list.length / 8);
      return list.filter(function (value, at) { return at % step === 0; });
    }
    var room = (scale.high - scale.low) / 7, power = Math.pow(10, Math.floor(Math.log10(room)));
    step = power * (room / power <= 1 ? 1 : room / power <= 2 ? 2 : room / power <= 5 ? 5 : 10);
    for (i = Math.ceil(scale.low / step - 1e-9); i * step <= scale.high + 1e-9 * step; i++) list.push(i * step);
    return list;
  }

  function element(name, attributes, text) {
    var made = doc.createElementNS(svgns, name);
    Object.keys(attributes).forEach(function (key) { made.setAttribute(key, attributes[key]); });
    if (text) made.textContent = text;
    return made;
  }

  function drawLegend(scale, relative) {
    legend.textContent = "";
    ticks(scale).forEach(function (value) {
      legend.appendChild(element("text", { "class": "c", x: (30 + 400 * placeOn(scale, value)).toFixed(1), y: 28 },
        relative ? (value >= 1000 ? Math.round(value) : +value.toPrecision(3)) + "\u00d7" : tickText(value, shown.unit)));
    });
  }

  // ---- drawing

  // The factor and the unit of numbers in cells: that of the middle value.
  function prefixOf(of, unit) {
    var list = Array.from(of).filter(function (value) { return value > 0; }).sort(function (a, b) { return a - b; });
    if (!list.length || unit === "1" || unit === "cycle") return { factor: 1, unit: unit === "1" ? "" : unit };
    var middle = list[list.length >> 1], isByte = unit === "byte";
    var step = Math.max(-4, Math.min(4, Math.floor((isByte ? Math.log2(middle) / 10 : Math.log10(middle) / 3) + 1e-9)));
    if (isByte && step <= 0) return { factor: 1, unit: unit };
    return { factor: Math.pow(isByte ? 1024 : 1000, -step),
      unit: isByte ? "KMGT"[step - 1] + "iB" : ["p", "n", "\u00b5", "m", "", "k", "M", "G", "T"][step + 4] + unit };
  }

  function drawBoxes(of) {
    var all = {}, best = bests(of);
    [].forEach.call(map.querySelectorAll(".best"), function (box) { box.remove(); });
    if (shown.better === 0) return;
    panels.forEach(function (panel, p) {
      var here = {};
      for (var i = 0; i < nx * ny; i++) {
        var at = cell[p + ":" + i], group = at === undefined ? 0 : data.group.length ? data.group[at] : 0;
        if (at === undefined || isNaN(of[at])) continue;
        if (here[group] === undefined || shown.better * of[at] > shown.better * of[here[group]]) here[group] = at;
      }
      Object.keys(here).forEach(function (group) {
        var mark = marks[here[group]], first = of[here[group]] === best[group] && all[group] === undefined;
        if (first) all[group] = true;
        mark.parentNode.appendChild(element("rect", { "class": first ? "best all" : "best", x: mark.getAttribute("x"),
          y: mark.getAttribute("y"), width: data.box[2], height: data.box[3] }));
      });
    });
  }

  function draw() {
    var of = values(shown), relative, best, list, scale; // of: by mark
    relative = !!ratio && ratio.checked && shown.better !== 0 && !Array.from(of).some(function (value) { return value <= 0; });
    best = bests(of);
    list = Array.from(of, function (value, i) {
      return !relative ? value : shown.better < 0 ? value / best[data.group[i]] : best[data.group[i]] / value;
    });
    scale = scaleOf(list);
    var prefix = prefixOf(of, shown.unit);
    marks.forEach(function (mark, i) {
      if (/infeasible|failed/.test(mark.getAttribute("class"))) return;
      var shade = Math.floor(placeOn(scale, list[i]) * (SHADES - 1) + 0.5);
      mark.setAttribute("class", isNaN(list[i]) ? "m none" : "m v" + Math.max(0, Math.min(SHADES - 1, shade)));
      var text = mark.numberText;
      if (!text) return;
      var value = of[i] * prefix.factor, size = Math.abs(value);
      text.textContent = isNaN(value) ? "" : size < 1e-3 && size > 0 || size >= 1e5 ? value.toExponential(1)
        : value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3);
      text.setAttribute("class", placeOn(scale, list[i]) < 0.55 ? "n w" : "n");
    });
    drawBoxes(of);
    drawLegend(scale, relative);
    doc.getElementById("shown").textContent = shown.name + (data.print && prefix.unit ? ", in cells in " + prefix.unit : "");
  }

  // ---- what is at a mark

  function words(i) {
    var at = place.get(marks[i]), title = panels[at.panel].querySelector("figcaption"), lines = [];
    if (title) lines.push(title.textContent);
    [["x", at.x, 0], ["y", at.y, 1]].forEach(function (axis) {
      if (data.title[axis[2]]) lines.push(data.title[axis[2]] + ": " + data[axis[0]][axis[1]]);
    });
    if (at.said) return lines.concat(at.said).join("\n");
    if (at.note) lines.push(at.note);
    [shown].concat(options.filter(function (option) { return option !== shown && option.isMain; })).forEach(function (option) {
      lines.push(option.name + ": " + number(values(option)[i], option.unit));
    });
    return lines.join("\n");
  }

  function show(i, x, y) {
    var mark = marks[i];
    hide();
    current = i;
    mark.parentNode.appendChild(element("rect", { "class": "at", x: mark.getAttribute("x"), y: mark.getAttribute("y"),
      width: data.box[2], height: data.box[3] }));
    tip.textContent = words(i);
    tip.style.display = "block";
    tip.style.left = Math.max(4, Math.min(x + 14, doc.documentElement.clientWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = Math.max(4, y + 18 + tip.offsetHeight > window.innerHeight ? y - tip.offsetHeight - 12 : y + 18) + "px";
  }

  function hide() {
    current = null;
    tip.style.display = "none";
    [].forEach.call(map.querySelectorAll(".at"), function (box) { box.remove(); });
  }

  function showFocused(i) {
    var box = marks[i].getBoundingClientRect();
    show(i, box.right - 10, box.bottom - 14);
  }

  function move(event) {
    var panel = panels.indexOf(event.currentTarget.parentNode), at = current === null ? null : place.get(marks[current]);
    var step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (event.key === "Escape") hide();
    if (!step) return;
    event.preventDefault();
    if (!at || at.panel !== panel) at = { x: step[0] < 0 ? nx : step[0] > 0 ? -1 : 0, y: step[1] < 0 ? ny : step[1] > 0 ? -1 : 0 };
    for (var x = at.x + step[0], y = at.y + step[1]; x >= 0 && x < nx && y >= 0 && y < ny; x += step[0], y += step[1])
      if (cell[panel + ":" + (y * nx + x)] !== undefined) { showFocused(cell[panel + ":" + (y * nx + x)]); return; }
  }

  // ---- beginning

  marks.forEach(function (mark, i) {
    var title = mark.querySelector("title"), at = {
      i: i,
      panel: panels.indexOf(mark.parentNode.parentNode),
      x: Math.round((mark.getAttribute("x") - data.box[0]) / data.box[2]),
      y: ny - 1 - Math.round((mark.getAttribute("y") - data.box[1]) / data.box[3])
    };
    if (/infeasible|failed/.test(mark.getAttribute("class"))) at.said = title.textContent;
    else at.note = title.textContent.split("; ")[1];
    title.remove(); // the tip says more, and the browser would show both
    place.set(mark, at);
    cell[at.panel + ":" + (at.y * nx + at.x)] = i;
  });
  panels.forEach(function (panel, p) {
    var svg = panel.querySelector("svg"), texts = [].slice.call(svg.querySelectorAll(".n")), next = 0;
    for (var i = 0; i < nx * ny; i++) {
      var at = cell[p + ":" + i];
      if (data.print && at !== undefined && / v\d/.test(marks[at].getAttribute("class"))) marks[at].numberText = texts[next++];
    }
    svg.setAttribute("tabindex", "0");
    svg.addEventListener("keydown", move);
    svg.addEventListener("blur", hide);
  });
  map.addEventListener("pointermove", function (event) {
    var at = place.get(event.target);
    if (at) show(at.i, event.clientX, event.clientY); else hide();
  });
  map.addEventListener("pointerleave", hide);
  pick.addEventListener("change", function () { shown = options[pick.selectedIndex]; draw(); });
  if (ratio) ratio.addEventListener("change", draw);
  var facets = [].slice.call(map.querySelectorAll("select.facet"));
  facets.forEach(function (select) {
    select.addEventListener("change", function () {
      panels.forEach(function (panel, p) {
        var keep = true;
        for (var f = facets.length - 1, rest = p; f >= 0; f--) {
          var at = rest % data.facet[f];
          rest = Math.floor(rest / data.facet[f]);
          if (facets[f].value !== "" && +facets[f].value !== at) keep = false;
        }
        panel.hidden = !keep;
      });
    });
  });
  shown = options[pick.selectedIndex];
  doc.documentElement.classList.add("js");
}());
