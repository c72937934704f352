import { pages, prelude } from "./prelude.js";
const hook = `
local key, H = ARGV[8], R .. ':hooks'
local packed = call('HGET', H, key)
local f = packed and fields(packed)
local token = packed and string.match(packed, '^[^ ]+ [^ ]+ [^ ]+ [^ ]+ [^ ]+ [^ ]+ (.*)$')
local function put(n) must(not packed and {'HDEL', H, key}, 'HSET', H, key, f[1] .. ' ' .. f[2] .. ' ' .. f[3] .. ' ' .. f[4] .. ' ' .. f[5] .. ' ' .. nonce .. '#' .. n .. ' ' .. token) end
-- again is the number of the event if this call is repeated.
local again = f and string.match(f[6], '^' .. nonce .. '#(%d+)$')
local s = call('HGET', R, 's')
if not s then return {'norun'} end
`;
// hookCreated claims a token, or records that another hook has it. ARGV[7] is the greatest number of events, [8] the hook, [9] the token, [10] 1 for a
// webhook, [11] the specification.
export const hookCreated = `${prelude}${hook}
if f then
  if again then return {f[1] == 'live' and 'ok' or 'taken', f[2], f[3], ''} end
  return {'conflict', 'the hook exists'}
end
if over[s] then return {'conflict', 'the run is ' .. s} end
if stale() then return {'stale'} end
if full(ARGV[7]) then return {'full', ARGV[7]} end
token = ARGV[9]
local owner = call('GET', P .. 'token:' .. token)
if owner then
  local run = string.match(owner, ' (.*)$')
  local n = append(cjson.encode({t = 'hook_conflict', c = key, v = tonumber(ARGV[11]), d = {token = token, conflictingRunId = run}}), '')
  f = {'conflict', n, ms, ARGV[10], ARGV[11]}
  put(n)
  return {'taken', n, ms, run}
end
local n = append(head, refs)
f = {'live', n, ms, ARGV[10], ARGV[11]}
put(n)
must({'DEL', P .. 'token:' .. token}, 'SET', P .. 'token:' .. token, key .. ' ' .. id)
must({'DEL', P .. 'hook:' .. key}, 'SET', P .. 'hook:' .. key, id)
must(nil, 'ZADD', P .. 'hooks', 0, ms .. ' ' .. key)
return {'ok', n, ms, ''}
`;
// hookReceived records a payload, and has the run replayed by the message from ARGV[9] on.
export const hookReceived = `${prelude}${hook}
if not f or f[1] ~= 'live' then return {'nohook'} end
if again then return {'ok', again, ms, call('HGET', R, 'w') or ''} end
if stale() then return {'stale'} end
if full(ARGV[7]) then return {'full', ARGV[7]} end
local message = wake(9)
local n = append(head, refs)
put(n)
if message ~= '' then call('HSET', R, 'w', message) end
if seen == '' then call('HSET', R, 'g', ms) end
return {'ok', n, ms, message}
`;
// hookDisposed frees a token.
export const hookDisposed = `${prelude}${hook}
if not f or f[1] == 'conflict' then return {'nohook'} end
if f[1] == 'disposed' then
  if again then return {'ok', again, ms, ''} end
  return {'conflict', 'the hook is disposed'}
end
if stale() then return {'stale'} end
if full(ARGV[7]) then return {'full', ARGV[7]} end
local n = append(head, refs)
f[1] = 'disposed'
put(n)
call('DEL', P .. 'token:' .. token, P .. 'hook:' .. key)
call('ZREM', P .. 'hooks', f[3] .. ' ' .. key)
return {'ok', n, ms, ''}
`;
// waitChanged makes a wait, or completes it. ARGV[8] is the wait, [9] its time or empty, [10] the specification, [11] waiting or completed.
export const waitChanged = `${prelude}
local s = call('HGET', R, 's')
if not s then return {'norun'} end
local W = R .. ':waits'
local packed = call('HGET', W, ARGV[8])
local f = packed and fields(packed)
if f and f[7] == nonce then return {'ok', f[8], f[4], packed} end
if over[s] then return {'conflict', 'the run is ' .. s} end
if ARGV[11] == 'waiting' then
  if f then return {'conflict', 'the wait exists'} end
  f = {'waiting', ARGV[9], ms, ms, 0, ARGV[10], nonce, 0}
else
  if not f then return {'nowait'} end
  if f[1] == 'completed' then return {'conflict', 'the wait is completed'} end
  f[1], f[4], f[5], f[7] = 'completed', ms, ms, nonce
end
if stale() then return {'stale'} end
if full(ARGV[7]) then return {'full', ARGV[7]} end
f[8] = append(head, refs)
packed = table.concat(f, ' ')
must(nil, 'HSET', W, ARGV[8], packed)
return {'ok', f[8], ms, packed}
`;
const found = `
-- hook reads a live one of the run that R names.
local function hook(key, run, heads)
  R = P .. '{' .. run .. '}'
  local packed = call('HGET', R .. ':hooks', key)
  if not packed or string.sub(packed, 1, 5) ~= 'live ' then return {} end
  return {key, run, packed, event(string.match(packed, '^%a+ (%d+)'), heads)}
end
`;
// hookRead reads a hook by its id ARGV[3], or by its token ARGV[4].
export const hookRead = `${pages}${found}
local key, run = ARGV[3], nil
if key == '' then
  local owner = call('GET', P .. 'token:' .. ARGV[4])
  if not owner then return {} end
  key, run = string.match(owner, '^([^ ]+) (.*)$')
else
  run = call('GET', P .. 'hook:' .. key)
end
if not run then return {} end
return hook(key, run, ARGV[2] == '1')
`;
// hookList reads a page of live hooks, the oldest first (ARGV[5] 1: the newest): of the run ARGV[6] or of all, from the place ARGV[3] on, ARGV[4] at most.
export const hookList = `${pages}${found}
local heads, limit, down, run = ARGV[2] == '1', tonumber(ARGV[4]), ARGV[5] == '1', ARGV[6]
local all = {} -- place and id of each
if run == '' then
  local from = ARGV[3] == '' and (down and '+' or '-') or '(' .. ARGV[3]
  local part
  if down then
    part = call('ZREVRANGEBYLEX', P .. 'hooks', from, '-', 'LIMIT', 0, limit + 1)
  else
    part = call('ZRANGEBYLEX', P .. 'hooks', from, '+', 'LIMIT', 0, limit + 1)
  end
  for i = 1, #part do all[i] = {part[i], string.match(part[i], ' (.*)$')} end
else
  R = P .. '{' .. run .. '}'
  local hooks = call('HGETALL', R .. ':hooks')
  for i = 1, #hooks, 2 do
    local n = tonumber(string.match(hooks[i + 1], '^live (%d+)'))
    if n and (ARGV[3] == '' or (down and n < tonumber(ARGV[3])) or (not down and n > tonumber(ARGV[3]))) then all[#all + 1] = {n, hooks[i]} end
  end
  table.sort(all, function(a, b) if down then return a[1] > b[1] end return a[1] < b[1] end)
end
local list, last = {}, ARGV[3]
for i = 1, math.min(#all, limit) do
  local owner = run ~= '' and run or call('GET', P .. 'hook:' .. all[i][2])
  local h = owner and hook(all[i][2], owner, heads) or {}
  if #h > 0 then list[#list + 1] = h end
  last = tostring(all[i][1])
end
return {list, last, #all > limit and 1 or 0}
`;
