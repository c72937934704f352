package commandtest

import (
	"fmt"
	"math/rand/v2"
)

// streams are the templates of streams: xs is a key of one, id an ID of an entry, in a
// small range so that entries meet, xr a bound of an interval, xg a group, xc a consumer.
var streams = []string{
	"XADD xs * f el", "XADD xs * f el f el", "XADD xs id f el", "XADD xs id f el", "XADD xs id f el f el", "XADD xs id f el", "DEL xs", "XADD xs NOMKSTREAM * f el", "XADD xs MAXLEN s * f el", "XADD xs MAXLEN = s id f el", "XADD xs MINID id * f el",
	"XADD xs MAXLEN ~ s * f el", "XADD xs MINID ~ id * f el", "XADD xs MAXLEN ~ s LIMIT s * f el", "XADD xs LIMIT s * f el", "XADD xs * f", "XADD xs MAXLEN n * f el", "XADD xs * f el", "XADD xs * f el f el f el",
	"XLEN xs", "XRANGE xs xr xr", "XRANGE xs - + COUNT s", "XREVRANGE xs xr xr", "XREVRANGE xs + - COUNT s", "XRANGE xs xr xr COUNT ct", "XDEL xs id", "XDEL xs id id id",
	"XTRIM xs MAXLEN s", "XTRIM xs MINID id", "XTRIM xs MAXLEN ~ s", "XTRIM xs MINID ~ id LIMIT s", "XTRIM xs MAXLEN n", "XTRIM xs MAXLEN s LIMIT s",
	"XREAD STREAMS xs id", "XREAD COUNT s STREAMS xs xs id id", "XREAD COUNT ct STREAMS xs $", "XREAD STREAMS xs xr",
	"XGROUP CREATE xs xg id", "XGROUP CREATE xs xg $ MKSTREAM", "XGROUP CREATE xs xg 0", "XGROUP CREATE xs xg id ENTRIESREAD s", "XGROUP SETID xs xg id", "XGROUP SETID xs xg xr ENTRIESREAD s", "XGROUP SETID xs xg 0", "XGROUP DESTROY xs xg",
	"XGROUP CREATECONSUMER xs xg xc", "XGROUP CREATECONSUMER xs xg xc", "XGROUP DELCONSUMER xs xg xc", "XGROUP CREATECONSUMER xs xg xc",
	"XREADGROUP GROUP xg xc STREAMS xs >", "XREADGROUP GROUP xg xc COUNT ct STREAMS xs >", "XREADGROUP GROUP xg xc COUNT 2 STREAMS xs >", "XREADGROUP GROUP xg xc COUNT 1 STREAMS xs xs > >", "XREADGROUP GROUP xg xc NOACK COUNT 2 STREAMS xs >",
	"XREADGROUP GROUP xg xc STREAMS xs id", "XREADGROUP GROUP xg xc COUNT ct STREAMS xs 0", "XREADGROUP GROUP xg xc STREAMS xs xr",
	"XACK xs xg id", "XACK xs xg id id id", "XPENDING xs xg", "XPENDING xs xg - + 10", "XPENDING xs xg xr xr s", "XPENDING xs xg - + s xc", "XPENDING xs xg IDLE m - + s", "XPENDING xs xg IDLE m xr xr ct xc",
	"XCLAIM xs xg xc m id", "XCLAIM xs xg xc 0 id id id", "XCLAIM xs xg xc 0 id id FORCE", "XCLAIM xs xg xc 0 id JUSTID", "XCLAIM xs xg xc 0 id IDLE m RETRYCOUNT s", "XCLAIM xs xg xc 0 id TIME n FORCE", "XCLAIM xs xg xc 0 id LASTID id",
	"XAUTOCLAIM xs xg xc m id", "XAUTOCLAIM xs xg xc 0 0 COUNT ct", "XAUTOCLAIM xs xg xc m xr COUNT s JUSTID",
	"XINFO STREAM xs", "XINFO STREAM xs FULL", "XINFO STREAM xs FULL COUNT ct", "XINFO GROUPS xs", "XINFO GROUPS xs", "XINFO CONSUMERS xs xg", "XSETID xs id", "XSETID xs id ENTRIESADDED s MAXDELETEDID id", "XSETID xs 99999999999999-0",
	"XDELEX xs IDS 1 id", "XDELEX xs DELREF IDS 2 id id", "XDELEX xs ACKED IDS 2 id id", "XACKDEL xs xg IDS 2 id id", "XACKDEL xs xg DELREF IDS 1 id", "XACKDEL xs xg ACKED IDS 2 id id", "XTRIM xs MAXLEN s ACKED", "XTRIM xs MINID id DELREF",
	"COPY xs xs REPLACE", "RENAME xs xs", "DEL xs", "TYPE xs", "EXPIRE xs s", "PERSIST xs",
}

// drawStream draws what the words of streams stand for.
func drawStream(r *rand.Rand, word string) string {
	switch word {
	case "xs":
		if r.IntN(40) == 0 {
			return draw(r, "k")
		}
		return fmt.Sprint("key:", 440+r.IntN(6))
	case "id":
		return fmt.Sprintf("%d-%d", r.IntN(12), r.IntN(4))
	case "xr":
		return [...]string{"-", "+", fmt.Sprint(r.IntN(12)), fmt.Sprintf("(%d-%d", r.IntN(12), r.IntN(4)), fmt.Sprintf("%d-%d", r.IntN(12), r.IntN(4)), "(-", "x-1"}[min(r.IntN(13)/2, 6)]
	case "xg":
		return [...]string{"g", "h", "none"}[min(r.IntN(16)/6, 2)]
	case "xc":
		return [...]string{"ann", "bob", "cy"}[r.IntN(3)]
	}
	return word
}
