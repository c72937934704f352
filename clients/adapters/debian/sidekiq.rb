# Debian's ruby-sidekiq: see python.py for how it is run. The worker is a process of its own.
require "sidekiq"
require "sidekiq/api"
require "rbconfig"

main = ARGV[3] == "ruby-sidekiq" # and not the worker, which reads this file for the class
if main
  host, port, password, = ARGV
  ENV["REDIS_URL"] = "redis://:#{password}@#{host}:#{port}/0"
end

class Mark
  include Sidekiq::Worker
  sidekiq_options retry: 3
  def perform(n)
    Sidekiq.redis { |r| r.sadd("sidekiq:done", n) }
  end
end

if main
  5.times { |n| Mark.perform_async(n) }
  Mark.perform_in(1, 5)
  puts Sidekiq::VERSION
  $stdout.flush
  $stdin.gets
  worker = spawn({ "REDIS_URL" => ENV["REDIS_URL"] }, "sidekiq", "-r", File.expand_path(__FILE__), "-c", "2", out: File::NULL, err: File::NULL)
  begin
    Mark.perform_async(6)
    limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 60
    until Sidekiq.redis { |r| r.scard("sidekiq:done") } == 7
      abort "jobs are left: #{Sidekiq::Queue.new.size}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > limit
      sleep 0.05
    end
  ensure
    Process.kill("TERM", worker)
    Process.wait(worker)
  end
  puts "ok"
end
