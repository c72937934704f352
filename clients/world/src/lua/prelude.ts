// Every script begins with this. A run lives under KEYS[1], the key of its hash; its other keys add to that name.
//
//   KEYS[1]            s status, n name, d deployment, v specification, x context, c created, u updated, t started, e ended (ms), o number
//                      of the event that ended it, g guard (ms), k nonce of its last event, w message that wakes it
//   KEYS[1]:events     list of "<ms> <head>" or "<ms> <head>\n<payloads>"; an event's number is its place, from 1
//   KEYS[1]:steps      step → "status created# last# attempt retryAfter started created updated completed specification nonce"
//   KEYS[1]:order      list of steps as they were created
//   KEYS[1]:hooks      hook → "state created# created isWebhook specification nonce token"; state: live, disposed, conflict
//   KEYS[1]:waits      wait → "status resumeAt created updated completed specification nonce"
//   KEYS[1]:later      step, or "" for the run → "due message" of a delivery that was put off
//   KEYS[1]:streams    set of the names of its streams
//
// Beside the runs, under the prefix ARGV[1]: sorted sets runs, runs:<status> and named:<workflow> by id, hooks by time, expiry by time;
// token:<token> → "hook run", hook:<hook> → run, and stream:<name>.
//
// Time is the server's, which never goes back, and is read in the script, so events are in the order of their times.
export const prelude: string = `
local P, id, nonce, seen, head, refs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local R = KEYS[1]
local call = redis.call
local function text(x) return string.format('%.0f', x) end
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local ms = text(now)
local over = {completed = true, failed = true, cancelled = true}

-- must runs a command that may be refused: beyond a limit, or for want of memory. Then it takes back what was done before, so that nothing is. The
-- inverse of a command is one that is never refused; the last command needs none.
local done = {}
local function must(inverse, ...)
  local answer = redis.pcall(...)
  if type(answer) == 'table' and answer.err then
    for i = #done, 1, -1 do call(unpack(done[i])) end
    error(answer)
  end
  if inverse then done[#done + 1] = inverse end
  return answer
end

local function append(head, refs)
  local record = ms .. ' ' .. head
  if refs ~= '' then record = record .. '\\n' .. refs end
  return must({'RPOP', R .. ':events'}, 'RPUSH', R .. ':events', record)
end

local function field(message, name)
  for i = 1, #message, 2 do
    if message[i] == name then return message[i + 1] end
  end
end

-- waiting says whether a message has not been delivered yet, and is not being delivered.
local function waiting(message)
  local m = message and call('MSG.GET', message)
  return m and field(m, 'state') == 'CREATED'
end

local function send(args)
  local message = must(nil, 'MSG.PUBLISH', unpack(args))
  done[#done + 1] = {'MSG.CANCEL', message}
  return message
end

-- publish sends what ARGV has from a place on: destination, body, options.
local function publish(from) return send({unpack(ARGV, from)}) end

-- flow publishes a message of the workflow: ARGV[from] is what the name of its queue begins with, then destination, body, options.
local function flow(from, name)
  local args = {unpack(ARGV, from + 1)}
  args[#args + 1] = 'FORWARD-X-VQS-QUEUE-NAME'
  args[#args + 1] = string.gsub(ARGV[from] .. name, '[^%w_.~-]', function(c) return string.format('%%%02X', string.byte(c)) end)
  args[#args + 1] = 'LABEL'
  args[#args + 1] = string.sub(string.gsub(name, '[^%w./@_-]', '_'), -100)
  return send(args)
end

-- wake has the run replayed, unless a message that will do so is under way already. A message is published before anything is written.
local function wake(from)
  if not ARGV[from] then return '' end
  local w, name = unpack(call('HMGET', R, 'w', 'n'))
  if waiting(w) then return w end
  return flow(from, name)
end

local function fields(packed)
  local f = {}
  for word in string.gmatch(packed, '[^ ]+') do f[#f + 1] = word end
  return f
end

-- stale says whether the caller decided without an event from outside that it should have known.
local function stale()
  if seen == '' then return false end
  local g = call('HGET', R, 'g')
  return g and tonumber(seen) < tonumber(g)
end

-- index adds the run to a set of runs.
local function index(set) must({'ZREM', P .. set, id}, 'ZADD', P .. set, 0, id) end

-- full says whether the run may have no more events, but for its end.
local function full(limit) return call('LLEN', R .. ':events') >= tonumber(limit) end
`;

// pages are functions of scripts that only read.
export const pages: string = `
local P, R = ARGV[1], KEYS[1]
local call = redis.call
local budget = 4194304

-- cut takes an event without its payloads if heads are asked for.
local function cut(record, heads)
  if record and heads then
    local at = string.find(record, '\\n', 1, true)
    if at then record = string.sub(record, 1, at - 1) end
  end
  if record then budget = budget - #record end
  return record or ''
end

local function event(n, heads) return cut(n and tonumber(n) > 0 and call('LINDEX', R .. ':events', n - 1), heads) end

local function run(heads)
  local all = call('HGETALL', R)
  if #all == 0 then return nil end
  local last = call('HGET', R, 'o')
  return {all, event(1, heads), event(last, heads)}
end

-- events returns records from a number on, and the number of the next, or 0.
local function events(from, limit, down, heads)
  local total = call('LLEN', R .. ':events')
  local list, n = {}, from
  while #list < limit and n >= 1 and n <= total and (budget > 0 or #list == 0) do
    local till = down and math.max(1, n - 49) or math.min(total, n + 49)
    local part = call('LRANGE', R .. ':events', math.min(n, till) - 1, math.max(n, till) - 1)
    for i = 1, #part do
      if #list == limit or (budget <= 0 and #list > 0) then break end
      list[#list + 1] = cut(down and part[#part + 1 - i] or part[i], heads)
      n = down and n - 1 or n + 1
    end
  end
  return list, (n >= 1 and n <= total) and n or 0
end
`;
