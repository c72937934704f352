import { pages, prelude } from "./prelude.js";

// begin, and what the scripts of a run's start need. ARGV[7] the greatest number of events, [8] name, [9] deployment, [10] specification,
// [11] context, [12] time of the id.
const creation = `
-- purge forgets runs whose retention is over: their keys have expired by themselves.
local function purge()
  local due = call('ZRANGEBYSCORE', P .. 'expiry', '-inf', ms, 'LIMIT', 0, 16)
  for i = 1, #due do
    local at = string.find(due[i], ' ', 1, true)
    local run, name = string.sub(due[i], 1, at - 1), string.sub(due[i], at + 1)
    for s in pairs(over) do call('ZREM', P .. 'runs:' .. s, run) end
    call('ZREM', P .. 'runs', run)
    call('ZREM', P .. 'named:' .. name, run)
    call('ZREM', P .. 'expiry', due[i])
  end
end

-- create makes a pending run, with the message that wakes it.
local function create(w)
  append(head, refs)
  index('runs')
  index('named:' .. ARGV[8])
  index('runs:pending')
  must({'DEL', R}, 'HSET', R, 's', 'pending', 'n', ARGV[8], 'd', ARGV[9], 'v', ARGV[10], 'x', ARGV[11], 'c', ms, 'u', ms, 'k', nonce, 'w', w)
end

local function refused()
  local made = tonumber(ARGV[12])
  return now - made > 86400000 or made - now > 300000
end
`;

// runCreated makes a run, and publishes its first message if there is one from ARGV[13] on, as wake does.
export const runCreated: string = `${prelude}${creation}
if call('EXISTS', R) == 1 then
  local s, c, w, k = unpack(call('HMGET', R, 's', 'c', 'w', 'k'))
  if k == nonce and s == 'pending' then return {'ok', 1, c, w or ''} end
  return {'conflict', 'the run exists'}
end
if refused() then return {'bad', 'the time in the id is too far from now'} end
purge()
local w = ARGV[13] and flow(13, ARGV[8]) or ''
create(w)
return {'ok', 1, ms, w}
`;

// runStarted makes a pending run a running one. ARGV[8] is empty if the run is not to be made here; ARGV[13] is the head of the event.
export const runStarted: string = `${prelude}${creation}
local s = call('HGET', R, 's')
if not s then
  if ARGV[8] == '' then return {'norun'} end
  if refused() then return {'bad', 'the time in the id is too far from now'} end
  create('')
  s = 'pending'
end
if over[s] then return {'expired', s} end
local n, at = 0, ms
if s == 'pending' then
  n = append(ARGV[13], '')
  index('runs:running')
  must(nil, 'HSET', R, 's', 'running', 't', ms, 'u', ms, 'k', nonce)
  call('ZREM', P .. 'runs:pending', id)
elseif call('HGET', R, 'k') == nonce then
  at = call('HGET', R, 't')
end
return {'ok', n, at, call('HGETALL', R), call('LRANGE', R .. ':events', 0, 99), call('LLEN', R .. ':events')}
`;

// runEnded ends a run. ARGV[7] is its new status, [8] its retention in milliseconds or 0.
export const runEnded: string = `${prelude}
local s, k, o, e = unpack(call('HMGET', R, 's', 'k', 'o', 'e'))
if not s then return {'norun'} end
if over[s] then
  if s == ARGV[7] and (k == nonce or s == 'cancelled') then return {'ok', o, e, call('HGETALL', R)} end
  return {'conflict', 'the run is ' .. s}
end
if stale() then return {'stale'} end
local n, keep = append(head, refs), tonumber(ARGV[8])
index('runs:' .. ARGV[7])
if keep > 0 then
  local due = id .. ' ' .. call('HGET', R, 'n')
  must({'ZREM', P .. 'expiry', due}, 'ZADD', P .. 'expiry', text(now + keep), due)
end
must(nil, 'HSET', R, 's', ARGV[7], 'e', ms, 'u', ms, 'o', n, 'k', nonce, unpack(keep > 0 and {'p', text(now + keep)} or {}))
call('ZREM', P .. 'runs:' .. s, id)

local hooks = call('HGETALL', R .. ':hooks')
for i = 1, #hooks, 2 do
  local f = fields(hooks[i + 1])
  if f[1] == 'live' then
    call('DEL', P .. 'token:' .. string.match(hooks[i + 1], '^[^ ]+ [^ ]+ [^ ]+ [^ ]+ [^ ]+ [^ ]+ (.*)$'), P .. 'hook:' .. hooks[i])
    call('ZREM', P .. 'hooks', f[3] .. ' ' .. hooks[i])
  end
end
local later = call('HGETALL', R .. ':later')
for i = 2, #later, 2 do
  local message = fields(later[i])[2]
  if waiting(message) then call('MSG.CANCEL', message) end
end
call('DEL', R .. ':hooks', R .. ':waits', R .. ':later')

if keep > 0 then
  for _, part in ipairs({'', ':events', ':steps', ':order', ':streams'}) do call('PEXPIRE', R .. part, keep) end
  for _, name in ipairs(call('SMEMBERS', R .. ':streams')) do call('PEXPIRE', P .. 'stream:' .. name, keep) end
end
return {'ok', n, ms, call('HGETALL', R)}
`;

// resumed begins a replay of a running run: it reads the run, and its events after the first ARGV[2], of which the last has the time ARGV[3]; a
// database that was restored from a backup may have others. It only reads.
export const resumed: string = `${pages}
if call('HGET', R, 's') ~= 'running' then return {'no'} end
if ARGV[2] ~= '0' and string.match(call('LINDEX', R .. ':events', ARGV[2] - 1) or '', '^%d+') ~= ARGV[3] then return {'others'} end
local list, rest = events(ARGV[2] + 1, 100000, false, false)
return {'ok', call('HGETALL', R), list, rest}
`;

// runRead reads one run. ARGV[2] is 1 if payloads are left out.
export const runRead: string = `${pages}
return run(ARGV[2] == '1') or {}
`;

// runList reads a page of runs by id. ARGV[2] is 1 if payloads are left out, [3] the set, [4] the id after which it begins or empty,
// [5] the limit, [6] 1 for ascending ids, [7] a status or empty. The reply ends with the id after which the next page begins, or empty.
export const runList: string = `${pages}
local heads, up, limit, examined = ARGV[2] == '1', ARGV[6] == '1', tonumber(ARGV[5]), 0
local list, last, more = {}, ARGV[4], true
while more and #list < limit and examined < 2000 and (budget > 0 or #list == 0) do
  local part
  local from = last == '' and (up and '-' or '+') or '(' .. last
  if up then part = call('ZRANGEBYLEX', ARGV[3], from, '+', 'LIMIT', 0, 100) else part = call('ZREVRANGEBYLEX', ARGV[3], from, '-', 'LIMIT', 0, 100) end
  more = #part == 100
  for i = 1, #part do
    if #list == limit or (budget <= 0 and #list > 0) then
      more = true
      break
    end
    examined, last = examined + 1, part[i]
    R = P .. '{' .. part[i] .. '}'
    local found = (ARGV[7] == '' or call('HGET', R, 's') == ARGV[7]) and run(heads)
    if found then list[#list + 1] = {part[i], found[1], found[2], found[3]} end
  end
end
return {list, last, more and 1 or 0}
`;
