package command_test

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/resp/protocol"
)

// zeroLines are commands that answer or keep numbers, where these can be minus zero. {z} is a sorted set with members a to e, {w}
// another one.
var zeroLines = []string{
	"ZADD {z} -0 a -0.0 b 0 c 1 d -1 e", "ZADD {z} INCR -0 new", "ZADD {z} INCR -0 a", "ZADD {z} XX CH 0 a", "ZADD {z} XX CH -0 c", "ZINCRBY {z} -0 other", "ZINCRBY {z} -1 d", "ZINCRBY {z} 1 e", "ZINCRBY {z} -0 c", "ZADD {z} GT -0 c", "ZADD {z} LT -0 c", "ZADD {z} NX -0 nx",
	"ZSCORE {z} a", "ZSCORE {z} nx", "ZSCORE {z} c", "ZMSCORE {z} a b c d e", "ZRANGE {z} 0 -1 WITHSCORES", "ZREVRANGE {z} 0 -1 WITHSCORES", "ZRANGEBYSCORE {z} -0 0 WITHSCORES", "ZRANGEBYSCORE {z} (-0 1 WITHSCORES", "ZREVRANGEBYSCORE {z} 0 -0 WITHSCORES", "ZCOUNT {z} -0 0", "ZCOUNT {z} (-0 0", "ZRANGE {z} 0 -0 BYSCORE REV WITHSCORES",
	"ZUNION 1 {z} WEIGHTS -1 WITHSCORES", "ZINTER 2 {z} {z} WEIGHTS -1 -0 WITHSCORES", "ZINTER 1 {z} WEIGHTS -0 WITHSCORES", "ZUNION 2 {z} {w} WEIGHTS -1 -1 AGGREGATE MIN WITHSCORES", "ZUNION 2 {w} {z} WEIGHTS 1 -1 AGGREGATE MAX WITHSCORES", "ZDIFF 1 {z} WITHSCORES", "ZDIFF 2 {z} none WITHSCORES", "ZUNION 2 set {w} WEIGHTS -0 -1 WITHSCORES", "ZINTER 1 set WEIGHTS -0 WITHSCORES",
	"ZUNIONSTORE d 1 {z} WEIGHTS -1", "ZRANGE d 0 -1 WITHSCORES", "ZINTERSTORE d 1 {z} WEIGHTS -0", "ZRANGE d 0 -1 WITHSCORES", "ZDIFFSTORE d 1 {z}", "ZRANGE d 0 -1 WITHSCORES", "ZRANGESTORE d {z} 0 -1", "ZRANGE d 0 -1 WITHSCORES", "COPY {z} d REPLACE", "ZSCORE d b", "RENAME d renamed", "ZSCORE renamed b",
	"ZPOPMIN {z} 3", "ZPOPMAX {z} 2", "ZADD one -0 m", "ZRANDMEMBER one 1 WITHSCORES", "ZSCAN one 0", "ZPOPMIN one", "ZADD one -0 m", "ZMPOP 1 one MIN", "ZADD one -0 m", "BZPOPMIN one 1",
	"SET f -0", "INCRBYFLOAT f 0", "INCRBYFLOAT f -0", "SET f 1", "INCRBYFLOAT f -1", "GET f", "HSET h f -0.0", "HINCRBYFLOAT h f -0", "HINCRBYFLOAT h g -0", "HSET h f 1", "HINCRBYFLOAT h f -1", "HGET h f", "SET n -0", "INCR n", "SET n 0", "DECRBY n -0", "DECRBY n 0",
	"GEOADD g -0 -0 m 0 0 n", "GEOPOS g m n", "GEODIST g m n", "GEOSEARCH g FROMLONLAT -0 -0 BYRADIUS 1 m WITHDIST WITHCOORD", "RPUSH l -0 0 1 -1", "SORT l", "SORT l DESC",
	"EVAL return(redis.call('ZADD','lua',-0,'m')) 0", "EVAL return(redis.call('ZADD','lua','INCR','-0','n')) 0", "EVAL return(redis.call('ZINCRBY','lua','-0','o')) 0", "EVAL return(tostring(-0)) 0", "EVAL return(-0) 0", "EVAL redis.setresp(3)return(redis.call('ZADD','lua','INCR','-0','p')) 0", "EVAL redis.setresp(3)return(tostring(redis.call('ZADD','lua','INCR','-0','q').double)) 0", "EVAL redis.setresp(3)return({double=-0}) 0", "EVAL return(cjson.encode(-0)) 0",
}

// TestFidelityOfMinusZero compares what becomes of minus zero in each command that takes or answers numbers, in sorted sets of both
// forms: in RESP3, in RESP2, and as the HTTP gateway has it, whose JSON holds the texts of RESP2.
func TestFidelityOfMinusZero(t *testing.T) {
	for _, form := range []struct {
		name, hello string
		origin      command.Origin
		shown       func(*testing.T, reply.Value) reply.Value
	}{
		{"RESP3", "3", command.RESP, func(_ *testing.T, v reply.Value) reply.Value { return v }},
		{"RESP2", "2", command.RESP, overRESP2},
		{"HTTP", "2", command.OriginHTTP, func(t *testing.T, v reply.Value) reply.Value { return shortNumbers(overRESP2(t, v)) }},
	} {
		t.Run(form.name, func(t *testing.T) {
			r, ours := startRedis(t), newReplica(t)
			if v := r.do([]byte("HELLO"), []byte(form.hello)); v.IsError() {
				t.Fatal(v.Text())
			}
			run := func(line string) {
				t.Helper()
				s := stepOf(inWords(line))
				s.Origin = form.origin
				v := ours.run(scripttest.Start, s)
				if we, they := s.Shown(form.shown(t, v)), s.Shown(form.shown(t, r.do(s.Argv...))); we != they {
					t.Errorf("%s\nRedis %s:\n%s\nwe:\n%s", line, r.version, they, we)
				}
			}
			for _, members := range []int{0, 200} {
				r.empty()
				ours.run(scripttest.Start, stepOf(inWords("FLUSHALL")))
				for i := range members {
					run(fmt.Sprintf("ZADD large %d far%d", 1000+i, i))
				}
				run("SADD set a d x")
				run("ZADD other 0 a 0 b 1 d")
				z := map[bool]string{true: "large", false: "small"}[members > 0]
				for _, line := range zeroLines {
					if form.origin == command.OriginHTTP && notOverHTTP.MatchString(line) {
						continue
					}
					run(strings.NewReplacer("{z}", z, "{w}", "other").Replace(line))
				}
			}
		})
	}
}

// notOverHTTP are the lines of commands that the gateway does not run, and of coordinates, of which RESP2 has fewer digits.
var notOverHTTP = regexp.MustCompile("^(BZPOPMIN|GEOPOS|GEOSEARCH) ")

// overRESP2 is a reply as a client of RESP2 reads it.
func overRESP2(t *testing.T, v reply.Value) reply.Value {
	t.Helper()
	read, err := protocol.ReadReply(bufio.NewReader(bytes.NewReader(reply.AppendRESP2(nil, v))))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// shortNumbers has each text that is a number as the gateway prints numbers: with the fewest digits that read back to it.
func shortNumbers(v reply.Value) reply.Value {
	switch v.Kind() {
	case reply.KindBulk:
		if f, err := strconv.ParseFloat(v.Text(), 64); err == nil {
			return reply.Bulk(reply.FormatDouble(f))
		}
	case reply.KindArray:
		elems := make([]reply.Value, len(v.Elems()))
		for i, e := range v.Elems() {
			elems[i] = shortNumbers(e)
		}
		return reply.Array(elems...)
	}
	return v
}
