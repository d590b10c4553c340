"""The style sheet of a report."""

from __future__ import annotations

CSS = """
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#667;--paper:#fff;--line:#d8dbe0;
--ours:#2f6fde;--base:#8a6d3b;--bad:#b3261e;--ghost:#9aa3ad}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#99a2ad;--paper:#0f1216;--line:#2a3038;
--ours:#7aa7f7;--base:#d3a94e;--bad:#e4626b;--ghost:#5c6672}}
body{background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif;margin:0}
main{max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem;margin:0 0 1rem}h2{font-size:1.2rem;margin:2.5rem 0 .75rem}
.verdict{font-size:1.05rem;border-left:4px solid var(--ours);padding:.25rem .75rem}
.verdict b{text-transform:uppercase;letter-spacing:.04em;margin-right:.5rem}
.simulated{background:var(--ink);color:var(--paper);padding:.4rem .75rem;font-weight:600}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.85rem;
margin:.75rem 0;display:block;overflow-x:auto}
th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th:first-child,td:first-child,th:nth-child(2),td:nth-child(2){text-align:left}
.facts th{color:var(--soft);font-weight:400}.facts td{text-align:left}
li{color:var(--soft)}figure{margin:1.25rem 0}figcaption,footer{color:var(--soft);font-size:.85rem}
pre{overflow-x:auto;background:color-mix(in srgb,var(--line) 40%,transparent);padding:.75rem}
svg{width:100%;height:auto;max-width:44rem}
svg text{fill:var(--soft);font-size:11px;text-anchor:middle}
svg .left{text-anchor:end}svg .note,svg .iso-name{text-anchor:start}
svg .grid{stroke:var(--line);stroke-width:1}
svg polyline{fill:none;stroke-width:1.5}svg .iso{stroke:var(--line)}svg .even{stroke:var(--soft);
stroke-dasharray:4 3}
svg .ours{fill:var(--ours);stroke:var(--ours)}svg .base{fill:var(--base);stroke:var(--base)}
svg polyline.ours,svg polyline.base{fill:none}svg .ghost{fill:none;stroke:var(--ghost)}
svg .expected{fill:none;stroke:var(--ours);stroke-width:2}
svg .odd{stroke-dasharray:2 2}svg .bar-ours{fill:var(--ours)}
svg .bar-base{fill:var(--base)}svg .bar-between{fill:var(--ghost)}
svg .void{fill:none;stroke:var(--bad);stroke-dasharray:3 2}
svg .launch{stroke:none;opacity:.85}svg .launch.void{stroke:var(--bad);opacity:1}
"""
