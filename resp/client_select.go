package resp

import (
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// A selection is the filter of CLIENT LIST and CLIENT KILL. Zero fields match every connection.
type selection struct {
	ids         []uint64
	kind, user  string
	addr, local string
	olderThan   time.Duration
}

// kinds are the types of connections that Redis knows. A node has no connection of a master or replica.
var kinds = map[string]bool{"normal": true, "pubsub": true, "master": true, "replica": true, "slave": true}

func (c *conn) kind() string {
	if t := c.info.get(); t.subs+t.psubs+t.ssubs > 0 {
		return "pubsub"
	}
	return "normal"
}

// has reports whether a connection matches the selection.
func (s *selection) has(c *conn, now time.Time) bool {
	if len(s.ids) > 0 {
		found := false
		for _, id := range s.ids {
			found = found || id == c.s.clients.number(c)
		}
		if !found {
			return false
		}
	}
	return (s.kind == "" || s.kind == c.kind()) && (s.user == "" || s.user == c.info.get().user) &&
		(s.addr == "" || s.addr == c.info.addr) && (s.local == "" || s.local == c.info.local) &&
		(s.olderThan == 0 || now.Sub(c.info.opened) >= s.olderThan)
}

// command returns the name of the command that ran last, as CLIENT LIST shows it.
func (i *info) command() string {
	row := i.last.Load()
	if row == nil {
		return "NULL"
	}
	return strings.ReplaceAll(row.Name, " ", "|")
}

func (c *conn) clientList(argv [][]byte) {
	var n selection
	switch words := argv[2:]; {
	case len(words) == 0:
	case command.EqualFold(words[0], "TYPE") && len(words) == 2:
		if n.kind = ascii.Lower(string(words[1])); !kinds[n.kind] {
			c.emit(reply.Error("ERR Unknown client type '" + oneLine(words[1]) + "'"))
			return
		}
	case command.EqualFold(words[0], "ID") && len(words) >= 2:
		for _, word := range words[1:] {
			id, ok := command.ParseInt(word)
			if !ok || id < 1 {
				c.emit(reply.Error("ERR Invalid client ID"))
				return
			}
			n.ids = append(n.ids, uint64(id))
		}
	default:
		c.emit(errSyntax)
		return
	}
	var b []byte
	now, own := time.Now(), c.holds(argv)
	c.s.clients.each(func(other *conn) {
		if c.sharesDatabase(other) && n.has(other, now) {
			holds := own
			if other != c {
				holds = other.published()
			}
			b = append(other.describe(b, now, holds), '\n')
		}
	})
	c.emit(reply.Verbatim(string(b)))
}

// sharesDatabase reports whether other belongs to the same database. Connections of other databases are not shown.
func (c *conn) sharesDatabase(other *conn) bool {
	return other == c || other.info.database() == c.database()
}

// clientKill closes connections: one by its address in the old form, those that fit all
// conditions in the new one.
func (c *conn) clientKill(argv [][]byte) {
	if len(argv) == 3 {
		n := selection{addr: string(argv[2])}
		if c.killAll(&n, true) == 0 {
			c.emit(reply.Error("ERR No such client"))
			return
		}
		c.emit(reply.OK())
		return
	}
	n, self, bad := c.readSelection(argv[2:])
	if bad != nil {
		c.emit(*bad)
		return
	}
	c.emit(reply.Int(c.killAll(&n, self)))
}

// killAll closes the connections of a selection and counts them. The one that asks is
// answered first.
func (c *conn) killAll(n *selection, self bool) (count int64) {
	now := time.Now()
	c.s.clients.each(func(other *conn) {
		switch {
		case !c.sharesDatabase(other) || !n.has(other, now) || (other == c && !self):
			return
		case other == c:
			c.ending = true
		default:
			other.kill()
		}
		count++
	})
	return count
}

// readSelection reads the conditions of CLIENT KILL.
func (c *conn) readSelection(words [][]byte) (n selection, self bool, bad *reply.Value) {
	refuse := func(text string) (selection, bool, *reply.Value) { v := reply.Error(text); return n, self, &v }
	for i := 0; i < len(words); i += 2 { // the first error is the reply
		if i+1 == len(words) {
			return refuse("ERR syntax error")
		}
		value := words[i+1]
		switch option := ascii.Upper(string(words[i])); option {
		case "ID":
			id, ok := command.ParseInt(value)
			if !ok || id < 1 {
				return refuse("ERR client-id should be greater than 0")
			}
			n.ids = append(n.ids, uint64(id))
		case "TYPE":
			if n.kind = ascii.Lower(string(value)); !kinds[n.kind] {
				return refuse("ERR Unknown client type '" + oneLine(value) + "'")
			}
		case "USER":
			if n.user = string(value); !c.hasUser(n.user) {
				return refuse("ERR No such user '" + oneLine(value) + "'")
			}
		case "ADDR":
			n.addr = string(value)
		case "LADDR":
			n.local = string(value)
		case "MAXAGE":
			seconds, err := strconv.ParseInt(string(value), 10, 32)
			if err != nil || seconds < 1 {
				return refuse("ERR maxage is not an integer or out of range")
			}
			n.olderThan = time.Duration(seconds) * time.Second
		case "SKIPME":
			switch {
			case command.EqualFold(value, "NO"):
				self = true
			case !command.EqualFold(value, "YES"):
				return refuse("ERR syntax error")
			}
		default:
			return refuse("ERR syntax error")
		}
	}
	return n, self, nil
}

// hasUser reports whether the database has a user of that name.
func (c *conn) hasUser(user string) (found bool) {
	as := acl.Trusted(user)
	as.DB = c.as.DB
	c.s.engine.Local(func(v *fsm.View) { found = v.User(as) != nil })
	return found
}
