<?php
// Debian's PHP clients of Redis: see python.py for how it is run.
[, $host, $port, $password, $name] = $argv;

function expect($got, $want)
{
    if ($got != $want) {
        fwrite(STDERR, 'got ' . json_encode($got) . ', want ' . json_encode($want) . "\n");
        exit(1);
    }
}

if ($name === 'php-redis') {
    $version = phpversion('redis');
    $r = new Redis();
    $r->connect($host, (int) $port);
    $r->auth($password);
} else {
    require 'Predis/autoload.php';
    $version = Predis\Client::VERSION;
    $r = new Predis\Client(['host' => $host, 'port' => (int) $port, 'password' => $password]);
}
$p = $name . ':';
$r->set($p . 'a', '1');
$r->hset($p . 'h', 'f', 'v');
$r->rpush($p . 'l', 'x');
echo $version, "\n";
fgets(STDIN);
expect($r->incr($p . 'a'), 2);
expect($r->hgetall($p . 'h'), ['f' => 'v']);
expect($r->lpop($p . 'l'), 'x');
expect($r->eval('return redis.call("GET", KEYS[1])', ...($name === 'php-redis' ? [[$p . 'a'], 1] : [1, $p . 'a'])), '2');
if ($name === 'php-redis') {
    expect($r->multi()->incr($p . 'a')->get($p . 'a')->exec(), [3, '3']);
} else {
    expect($r->transaction(fn ($t) => $t->incr($p . 'a') && $t->get($p . 'a')), [3, '3']);
    expect($r->pipeline(fn ($t) => [$t->incr($p . 'a'), $t->get($p . 'a')]), [4, '4']);
}
echo "ok\n";
