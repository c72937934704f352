package resp

import (
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var errName = reply.Error("ERR Client names cannot contain spaces, newlines or special characters.")

// validName reports whether a connection may have this name: it must stay one word of one
// line in CLIENT LIST.
func validName(name []byte) bool {
	for _, c := range name {
		if c < '!' || c > '~' {
			return false
		}
	}
	return true
}

func (c *conn) clientID([][]byte) { c.emit(reply.Int(int64(c.s.clients.number(c)))) }

func (c *conn) clientGetName([][]byte) {
	if name := c.info.get().name; name != "" {
		c.emit(reply.Bulk(name))
		return
	}
	c.emit(reply.Nil())
}

func (c *conn) clientSetName(argv [][]byte) {
	if !validName(argv[2]) {
		c.emit(errName)
		return
	}
	c.info.set(func(t *attributes) { t.name = string(argv[2]) })
	c.emit(reply.OK())
}

func (c *conn) clientSetInfo(argv [][]byte) {
	v := command.JudgeClientInfo(string(argv[2]), argv[3])
	if !v.IsError() {
		c.info.set(func(t *attributes) {
			if command.EqualFold(argv[2], "LIB-NAME") {
				t.library = string(argv[3])
			} else {
				t.version = string(argv[3])
			}
		})
	}
	c.emit(v)
}

// onOff parses ON or OFF.
func onOff(word []byte) (on, ok bool) {
	return command.EqualFold(word, "ON"), command.EqualFold(word, "ON") || command.EqualFold(word, "OFF")
}

func (c *conn) clientNoEvict(argv [][]byte) {
	c.keepSwitch(argv[2], func(t *attributes, on bool) { t.noEvict = on })
}

func (c *conn) clientNoTouch(argv [][]byte) {
	c.keepSwitch(argv[2], func(t *attributes, on bool) { t.noTouch = on })
}

func (c *conn) keepSwitch(word []byte, keep func(*attributes, bool)) {
	on, ok := onOff(word)
	if !ok {
		c.emit(errSyntax)
		return
	}
	c.info.set(func(t *attributes) { keep(t, on) })
	c.emit(reply.OK())
}

// clientReply switches replies on or off, or skips one. Only ON is answered itself.
func (c *conn) clientReply(argv [][]byte) {
	switch {
	case command.EqualFold(argv[2], "ON"):
		c.silent, c.mute = false, false
		c.emit(reply.OK())
	case command.EqualFold(argv[2], "OFF"):
		c.silent = true
	case command.EqualFold(argv[2], "SKIP"):
		c.skipNext = !c.silent
	default:
		c.emit(errSyntax)
	}
}

func (c *conn) clientPause(argv [][]byte) {
	ms, ok := command.ParseInt(argv[2])
	writes := false
	switch {
	case !ok || ms > maxPause:
		c.emit(reply.Error("ERR timeout is not an integer or out of range"))
		return
	case ms < 0:
		c.emit(reply.Error("ERR timeout is negative"))
		return
	case len(argv) == 4 && command.EqualFold(argv[3], "WRITE"):
		writes = true
	case len(argv) > 4:
		c.emit(errSyntax)
		return
	case len(argv) == 4 && !command.EqualFold(argv[3], "ALL"):
		c.emit(reply.Error("ERR CLIENT PAUSE mode must be WRITE or ALL"))
		return
	}
	if ms > 0 {
		if err := c.holdExpiry(ms); err != nil {
			c.emit(failureOf(err, true))
			return
		}
	}
	c.s.pauses.begin(c.database(), time.Now().Add(time.Duration(ms)*time.Millisecond), writes)
	c.emit(reply.OK())
}

// maxPause is the longest pause in milliseconds: whatever fits a duration.
const maxPause = int64(1<<63-1) / int64(time.Millisecond)

func (c *conn) clientUnpause([][]byte) {
	held := c.s.pauses.of(c.database()).end()
	c.s.engine.Local(func(v *fsm.View) { held = held || v.ExpiryHeld(c.database()) })
	if held {
		if err := c.holdExpiry(0); err != nil {
			c.emit(failureOf(err, true))
			return
		}
	}
	c.emit(reply.OK())
}

func (c *conn) clientHelp([][]byte) {
	lines := []string{
		"CLIENT subcommands. Connections are those of the node that answers:",
		"CACHING (YES|NO)", "    Whether the reads of the next command are tracked, with OPTIN or OPTOUT.",
		"GETNAME", "    The name of this connection.",
		"GETREDIR", "    Which connection is told of changes instead of this one.",
		"ID", "    The number of this connection.",
		"INFO", "    What is known of this connection.",
		"KILL <ip:port>", "    Close the connection from an address.",
		"KILL <option> <value> [<option> <value> ...]", "    Close connections by ID, TYPE, USER, ADDR, LADDR, MAXAGE, SKIPME.",
		"LIST [TYPE type | ID id ...]", "    What is known of connections.",
		"NO-EVICT (ON|OFF), NO-TOUCH (ON|OFF)", "    Taken without an effect.",
		"PAUSE <milliseconds> [WRITE|ALL]", "    Let commands wait.",
		"REPLY (ON|OFF|SKIP)", "    Whether commands are answered.",
		"SETINFO (LIB-NAME|LIB-VER) <value>", "    The library that the client uses.",
		"SETNAME <name>", "    Name this connection.",
		"TRACKING (ON|OFF) [REDIRECT <id>] [BCAST] [PREFIX <prefix> ...] [OPTIN] [OPTOUT] [NOLOOP]", "    Tell of changes of what was read.",
		"TRACKINGINFO", "    How reads of this connection are tracked.",
		"UNBLOCK <id> [TIMEOUT|ERROR]", "    End the wait of a connection.",
		"UNPAUSE", "    End PAUSE.",
		"HELP", "    These lines.",
	}
	values := make([]reply.Value, len(lines))
	for i, l := range lines {
		values[i] = reply.Status(l)
	}
	c.emit(reply.Array(values...))
}

func (c *conn) clientInfo(argv [][]byte) {
	own := c.holds(argv)
	c.emit(reply.Verbatim(string(c.describe(nil, time.Now(), own)) + "\n"))
}

// holding counts the memory of a connection, in bytes, by the fields of CLIENT LIST.
type holding struct{ qbuf, qbufFree, argv, replies, maxReply, waiting int64 }

// holds returns the connection's memory while it runs argv. Only its own goroutine may call it; others use published.
func (c *conn) holds(argv [][]byte) holding {
	return holding{
		qbuf: int64(max(0, len(c.in.buf)-c.roundAt)), qbufFree: int64(cap(c.in.buf) - len(c.in.buf)), argv: int64(lengthOf(argv)),
		replies: int64(cap(c.replies)), maxReply: max(c.info.sizes.maxReply.Load(), int64(len(c.replies))), waiting: int64(len(c.replies)),
	}
}

// published returns the connection's memory at its last wait (sizes).
func (c *conn) published() holding {
	s := &c.info.sizes
	return holding{qbuf: s.unread.Load(), qbufFree: s.spare.Load(), argv: s.words.Load(), replies: s.replies.Load(), maxReply: s.maxReply.Load()}
}

func lengthOf(argv [][]byte) (n int) {
	for _, word := range argv {
		n += len(word)
	}
	return n
}

// describe appends the connection's line of CLIENT LIST to b.
func (c *conn) describe(b []byte, now time.Time, h holding) []byte {
	t := c.info.get()
	number := func(name string, n int64) { b = strconv.AppendInt(append(append(append(b, ' '), name...), '='), n, 10) }
	word := func(name, text string) { b = append(append(append(append(b, ' '), name...), '='), text...) }
	id := c.s.clients.number(c)
	b = strconv.AppendUint(append(b, "id="...), id, 10)
	word("addr", c.info.addr)
	word("laddr", c.info.local)
	number("fd", int64(id))
	word("name", t.name)
	number("age", int64(now.Sub(c.info.opened)/time.Second))
	number("idle", max(0, now.UnixMilli()-c.info.active.Load())/1000)
	word("flags", c.flags(&t))
	number("db", 0)
	number("sub", int64(t.subs))
	number("psub", int64(t.psubs))
	number("ssub", int64(t.ssubs))
	number("multi", int64(t.queued))
	number("watch", int64(t.watches))
	number("qbuf", h.qbuf)
	number("qbuf-free", h.qbufFree)
	number("argv-mem", h.argv)
	number("multi-mem", int64(t.queuedBytes))
	number("rbs", h.replies)
	number("rbp", h.maxReply)
	number("obl", h.waiting)
	parts, waiting := c.out.waitingParts()
	number("oll", int64(parts))
	number("omem", int64(waiting))
	number("tot-mem", h.qbuf+h.qbufFree+h.argv+int64(t.queuedBytes)+h.replies+int64(waiting))
	events := "r"
	if waiting > 0 {
		events = "rw"
	}
	word("events", events)
	word("cmd", c.info.command())
	word("user", t.user)
	number("redir", t.redirect)
	number("resp", int64(t.proto))
	word("lib-name", t.library)
	word("lib-ver", t.version)
	return b
}

// flags returns the connection's flags of CLIENT LIST, one letter each, or N without any.
func (c *conn) flags(t *attributes) (letters string) {
	for _, f := range []struct {
		set    bool
		letter string
	}{{t.monitors, "O"}, {t.subs+t.psubs+t.ssubs > 0, "P"}, {t.queued >= 0, "x"}, {c.info.blocked.Load() != nil || c.info.paused.Load(), "b"}, {c.info.killed.Load(), "c"}, {t.tracks, "t"}, {t.broken, "R"}, {t.bcast, "B"}, {t.noEvict, "e"}, {t.noTouch, "T"}} {
		if f.set {
			letters += f.letter
		}
	}
	if letters == "" {
		return "N"
	}
	return letters
}
