// A stream is a Redis stream: chunk i has the id (i+1)-0 and the field d, the end mark the next id and the field e. KEYS[1] is the stream, KEYS[2] the
// set of names of its run, KEYS[3] the run.

// streamWrite appends ARGV[5...] unless the stream has ended, and ends it if ARGV[3] is 1. ARGV[1] is the name, [2] a nonce, [4] the time to live in
// milliseconds of a stream whose run is unknown.
export const streamWrite: string = `
local call, stream = redis.call, KEYS[1]
local last = call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
local n = 0
if last then
  n = tonumber(string.match(last[1], '^(%d+)'))
  if last[2][1] == 'e' then return 'ended' end
  local recent = call('XREVRANGE', stream, '+', '-', 'COUNT', 64)
  for i = 1, #recent do
    if recent[i][2][3] == 'n' and recent[i][2][4] == ARGV[2] then return 'again' end
  end
end
for i = 5, #ARGV do
  n = n + 1
  if i == 5 then call('XADD', stream, n .. '-0', 'd', ARGV[i], 'n', ARGV[2]) else call('XADD', stream, n .. '-0', 'd', ARGV[i]) end
end
if ARGV[3] == '1' then call('XADD', stream, (n + 1) .. '-0', 'e', '1') end
if not last then
  local s, p = unpack(call('HMGET', KEYS[3], 's', 'p'))
  if s then
    call('SADD', KEYS[2], ARGV[1])
    if p then call('PEXPIREAT', stream, p) end
  else
    call('PEXPIRE', stream, ARGV[4])
  end
end
return 'ok'
`;

// streamInfo returns how many chunks a stream has, and whether it has ended.
export const streamInfo: string = `
local n = redis.call('XLEN', KEYS[1])
local last = n > 0 and redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last and last[2][1] == 'e' then return {n - 1, 1} end
return {n, 0}
`;

// streamRead returns chunks from the index ARGV[1] on, ARGV[2] or about 4 MB of them at most, how many there are, and whether the stream has ended.
export const streamRead: string = `
local n = redis.call('XLEN', KEYS[1])
local last = n > 0 and redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local ended = last and last[2][1] == 'e'
if ended then n = n - 1 end
local list, budget, at = {}, 4194304, tonumber(ARGV[1])
while at < n and #list < tonumber(ARGV[2]) and budget > 0 do
  local part = redis.call('XRANGE', KEYS[1], (at + 1) .. '-0', '+', 'COUNT', math.min(50, ARGV[2] - #list))
  for i = 1, #part do
    if part[i][2][1] == 'd' and budget > 0 then
      list[#list + 1] = part[i][2][2]
      budget = budget - #part[i][2][2]
      at = at + 1
    end
  end
end
return {list, n, ended and 1 or 0}
`;
