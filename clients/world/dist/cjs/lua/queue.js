"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.putOff = exports.sendStep = exports.wakeRun = void 0;
const prelude_js_1 = require("./prelude.js");
// wakeRun has a run replayed by the message from ARGV[7] on, unless one that will do so is under way.
exports.wakeRun = `${prelude_js_1.prelude}
local s = call('HGET', R, 's')
if not s then return {'norun'} end
if over[s] then return {'over'} end
local message = wake(7)
if message ~= '' then call('HSET', R, 'w', message) end
return {'ok', message}
`;
// sendStep publishes a step's message from ARGV[8] on, unless the step ARGV[7] is known: the event that made it has published its message.
exports.sendStep = `${prelude_js_1.prelude}
local packed = call('HGET', R .. ':steps', ARGV[7])
if packed then return {'known'} end
return {'ok', publish(8)}
`;
// putOff publishes a message again, from ARGV[9] on, that is due in ARGV[8] milliseconds, for the step ARGV[7] or, if that is empty, for the run.
// One that is due by then and has not been delivered serves as well.
exports.putOff = `${prelude_js_1.prelude}
local due = now + ARGV[8]
local before = call('HGET', R .. ':later', ARGV[7])
if before then
  local f = fields(before)
  if tonumber(f[1]) <= due + 1000 and waiting(f[2]) then return {'ok', f[2]} end
end
local s = call('HGET', R, 's')
if ARGV[7] == '' and s and over[s] then return {'over'} end
local message = publish(9)
if s and not over[s] then must(nil, 'HSET', R .. ':later', ARGV[7], text(due) .. ' ' .. message) end
return {'ok', message}
`;
