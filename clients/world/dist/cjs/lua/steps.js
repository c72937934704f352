"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.eventList = exports.stepList = exports.stepRead = exports.stepEnded = exports.stepStarted = exports.stepCreated = void 0;
const prelude_js_1 = require("./prelude.js");
const step = `
local key, S = ARGV[8], R .. ':steps'
local packed = call('HGET', S, key)
local f = packed and fields(packed)
local function put() must(not packed and {'HDEL', S, key}, 'HSET', S, key, table.concat(f, ' ')) end
local s = call('HGET', R, 's')
if not s then return {'norun'} end
`;
// stepCreated makes a step, and publishes its message if there is one from ARGV[10] on. ARGV[7] is the greatest number of events, [8] the step, [9] the specification.
exports.stepCreated = `${prelude_js_1.prelude}${step}
if f then
  if f[11] == nonce and f[4] == '0' then return {'ok', f[2], f[7], packed, ''} end
  return {'conflict', 'the step exists'}
end
if over[s] then return {'conflict', 'the run is ' .. s} end
if stale() then return {'stale'} end
if full(ARGV[7]) then return {'full', ARGV[7]} end
local message = ARGV[10] and publish(10) or ''
local n = append(head, refs)
f = {'pending', n, 0, 0, 0, 0, ms, ms, 0, ARGV[9], nonce}
put()
must(nil, 'RPUSH', R .. ':order', key)
return {'ok', n, ms, table.concat(f, ' '), message}
`;
// stepStarted begins an attempt, and returns the step with its input.
exports.stepStarted = `${prelude_js_1.prelude}${step}
if not f then return {'nostep'} end
local function answer(n, at) return {'ok', n, at, table.concat(f, ' '), call('LINDEX', R .. ':events', f[2] - 1)} end
if f[11] == nonce then return answer(0, f[8]) end
if over[f[1]] then return {'conflict', 'the step is ' .. f[1]} end
if over[s] and f[1] ~= 'running' then return {'expired', s} end
if tonumber(f[5]) > now then return {'early', math.ceil((f[5] - now) / 1000)} end
if full(ARGV[7]) then return {'full', ARGV[7]} end
local n = append(head, refs)
f[1], f[4], f[5], f[8], f[11] = 'running', f[4] + 1, 0, ms, nonce
if f[6] == '0' then f[6] = ms end
put()
return answer(n, ms)
`;
// stepEnded records the end of a step (ARGV[9] completed or failed), or that it is tried again (pending, not before ARGV[10]), and has the run
// replayed by the message from ARGV[11] on.
exports.stepEnded = `${prelude_js_1.prelude}${step}
if not f then return {'nostep'} end
if f[11] == nonce then return {'ok', f[3], f[8], packed, call('HGET', R, 'w') or ''} end
if over[f[1]] then return {'conflict', 'the step is ' .. f[1]} end
if over[s] and f[1] ~= 'running' then return {'expired', s} end
if stale() then return {'stale'} end
if full(ARGV[7]) then return {'full', ARGV[7]} end
local message = over[s] and '' or wake(11)
local n = append(head, refs)
f[1], f[3], f[5], f[8], f[11] = ARGV[9], n, ARGV[10], ms, nonce
if over[ARGV[9]] then f[9] = ms end
put()
if message ~= '' then call('HSET', R, 'w', message) end
if ARGV[9] == 'completed' and seen == '' then call('HSET', R, 'g', ms) end
return {'ok', n, ms, table.concat(f, ' '), message}
`;
// stepRead reads a step with the events that have its input and its output or error. ARGV[2] is 1 if payloads are left out.
exports.stepRead = `${prelude_js_1.pages}
local packed = call('HGET', R .. ':steps', ARGV[3])
if not packed then return {} end
local made, last = string.match(packed, '^%a+ (%d+) (%d+)')
return {packed, event(made, ARGV[2] == '1'), event(last, ARGV[2] == '1')}
`;
// stepList reads a page of steps by the order in which they were created, from the place ARGV[3] on; ARGV[4] limit, [5] 1 for ascending.
exports.stepList = `${prelude_js_1.pages}
local heads, up, limit = ARGV[2] == '1', ARGV[5] == '1', tonumber(ARGV[4])
local total = call('LLEN', R .. ':order')
local at = ARGV[3] == '' and (up and 1 or total) or tonumber(ARGV[3])
local list = {}
while #list < limit and at >= 1 and at <= total and (budget > 0 or #list == 0) do
  local key = call('LINDEX', R .. ':order', at - 1)
  local packed = call('HGET', R .. ':steps', key)
  local made, last = string.match(packed, '^%a+ (%d+) (%d+)')
  list[#list + 1] = {key, packed, event(made, heads), event(last, heads)}
  at = up and at + 1 or at - 1
end
return {list, at, (at >= 1 and at <= total) and 1 or 0}
`;
// eventList reads a page of events from the number ARGV[3] on, or from an end; ARGV[4] limit, [5] 1 for descending.
exports.eventList = `${prelude_js_1.pages}
local down = ARGV[5] == '1'
if call('EXISTS', R) == 0 then return {'norun'} end
local from = tonumber(ARGV[3])
if from == 0 then from = down and call('LLEN', R .. ':events') or 1 end
local list, rest = events(from, tonumber(ARGV[4]), down, ARGV[2] == '1')
return {'ok', from, list, rest}
`;
