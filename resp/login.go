package resp

import (
	"bytes"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/resp/protocol"
)

// A credential holds the digests of the secret with which a connection has authenticated, never the secret.
type credential struct {
	user     string // empty: the token names the user
	password acl.Digest
	token    acl.Bearer
}

// newCredential returns the credential in the words of AUTH: a password or token, optionally after
// a user's name.
func newCredential(words [][]byte) credential {
	secret := words[len(words)-1]
	k := credential{password: acl.DigestOf(string(secret)), token: acl.ParseBearer(secret)}
	if len(words) > 1 {
		k.user = string(words[0])
	}
	return k
}

// prove returns the identity that the credential proves, or none. A user's tokens serve as passwords.
func (c *credential) prove(v *fsm.View) acl.Identity {
	if c.user == "" {
		return v.LoginBearer(&c.token)
	}
	if as := v.Login(c.user, c.password); as.Known() {
		return as
	}
	if as := v.LoginBearer(&c.token); as.User == c.user {
		return as
	}
	return acl.Identity{}
}

// login gives the connection the identity that the credential proves in this state, which may be
// none.
func (c *conn) login(v *fsm.View, k *credential) {
	as := k.prove(v)
	if c.as.Known() && !as.Known() { // revoked: it may log in again
		c.unauthenticatedSince = time.Now()
	}
	c.as = as
	c.info.set(func(t *attributes) { t.as = as })
	if c.refreshUser(v); c.as.Known() {
		c.limits = c.s.limits.protocol()
		c.slot.LoggedIn()
	} else {
		c.limits = protocol.Unauthenticated
	}
}

// authenticate tries a credential on this node's state and, if that refuses it, on the
// newest. Without success the connection keeps its identity.
func (c *conn) authenticate(k credential) *reply.Value {
	before := c.as
	enter := func(v *fsm.View) { c.login(v, &k) }
	c.s.engine.Local(enter)
	if !c.as.Known() {
		if _, err := c.s.engine.Read(c.s.life, fsm.Reading{}, enter); err != nil {
			c.restore(before)
			failed := failureOf(err, false)
			return &failed
		}
	}
	if !c.as.Known() {
		c.restore(before)
		c.s.metrics.failedLogin.Inc()
		failed := errWrongPass
		return &failed
	}
	c.credential = k
	c.moveSubscriber(before)
	if before.Known() && before.DB != c.as.DB {
		c.untrack()
	}
	c.s.clients.enter(c)
	c.info.set(func(t *attributes) { t.user, t.db = c.as.User, c.as.DB })
	return nil
}

func (c *conn) restore(as acl.Identity) {
	c.as = as
	c.info.set(func(t *attributes) { t.as = as })
	if as.Known() {
		c.s.engine.Local(c.refreshFn)
		c.limits = c.s.limits.protocol()
	}
}

func (c *conn) auth(argv [][]byte) {
	if len(argv) > 3 {
		c.emit(errSyntax)
		return
	}
	if refusal := c.authenticate(newCredential(argv[1:])); refusal != nil {
		c.emit(*refusal)
		return
	}
	c.emit(reply.OK())
}

// helloVersion returns the protocol version that HELLO asks for, or 0 to keep the present one.
func helloVersion(argv [][]byte) (version int64, bad *reply.Value) {
	if len(argv) < 2 {
		return 0, nil
	}
	n, ok := command.ParseInt(argv[1])
	switch {
	case !ok:
		return 0, refusal("ERR Protocol version is not an integer or out of range")
	case n < 2 || n > 3:
		return 0, refusal("NOPROTO unsupported protocol version")
	}
	return n, nil
}

func refusal(text string) *reply.Value {
	v := reply.Error(text)
	return &v
}

// helloOptions applies the options of HELLO one after the other, as Redis does. An invalid option
// does not undo those before it.
func (c *conn) helloOptions(words [][]byte) (bad *reply.Value) {
	for len(words) > 0 && bad == nil {
		switch {
		case command.EqualFold(words[0], "AUTH") && len(words) > 2:
			bad = c.authenticate(newCredential(words[1:3]))
			words = words[3:]
		case command.EqualFold(words[0], "SETNAME") && len(words) > 1:
			if !validName(words[1]) {
				return &errName
			}
			c.info.set(func(t *attributes) { t.name = string(words[1]) })
			words = words[2:]
		default:
			return refusal("ERR Syntax error in HELLO option '" + oneLine(words[0]) + "'")
		}
	}
	return bad
}

func (c *conn) hello(argv [][]byte) {
	version, bad := helloVersion(argv)
	if bad == nil {
		bad = c.helloOptions(argv[min(2, len(argv)):])
	}
	if bad != nil {
		c.emit(*bad)
		return
	}
	if !c.as.Known() {
		c.emit(reply.Error("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> " +
			"option can be used to authenticate the client and select the RESP protocol version at the same time"))
		return
	}
	if version != 0 {
		c.setProto(version == 3)
	}
	c.emit(c.helloReply())
}

func (c *conn) setProto(three bool) {
	c.proto3 = three
	c.info.set(func(t *attributes) { t.proto = c.proto() })
	if c.subscriber != nil {
		c.subscriber.proto3.Store(three)
	}
}

func (c *conn) proto() int {
	if c.proto3 {
		return 3
	}
	return 2
}

// helloReply returns the answer to HELLO.
func (c *conn) helloReply() reply.Value {
	role := "master"
	c.s.engine.Local(func(v *fsm.View) {
		if h := v.Host(); h != nil && !h.Leads {
			role = "replica"
		}
	})
	return reply.Map(
		reply.Bulk("server"), reply.Bulk("redis"), reply.Bulk("version"), reply.Bulk(command.RedisVersion),
		reply.Bulk("proto"), reply.Int(int64(c.proto())), reply.Bulk("id"), reply.Int(int64(c.s.clients.number(c))),
		reply.Bulk("mode"), reply.Bulk("cluster"), reply.Bulk("role"), reply.Bulk(role),
		reply.Bulk("modules"), reply.Array())
}

func (c *conn) quit([][]byte) {
	c.emit(reply.OK())
	c.ending = true
}

// reset returns the connection to its state after connecting.
func (c *conn) reset([][]byte) {
	if c.subscriber != nil {
		c.closeSubscriber()
		c.awaitCounted()
	}
	c.closeMonitor()
	c.untrack()
	c.clearTransaction()
	c.as, c.credential, c.unrestricted, c.silent, c.skipNext, c.mute = acl.Identity{}, credential{}, false, false, false, false
	c.limits, c.unauthenticatedSince = protocol.Unauthenticated, time.Now()
	c.slot.Idle()
	c.s.clients.leave(c)
	c.holding.End()
	c.proto3 = false
	c.info.set(func(t *attributes) {
		*t = attributes{proto: 2, queued: -1, redirect: -1, library: t.library, version: t.version}
	})
	c.emit(reply.Status("RESET"))
}

// selectDB accepts database 0 only: the credential selects the database.
func (c *conn) selectDB(argv [][]byte) {
	n, ok := command.ParseInt(argv[1])
	switch {
	case !ok:
		c.emit(reply.Error("ERR value is not an integer or out of range"))
	case n != int64(int32(n)):
		c.emit(reply.Error("ERR value is out of range, value must between -2147483648 and 2147483647"))
	case n != 0:
		c.emit(reply.Error("ERR DB index is out of range"))
	default:
		c.emit(reply.OK())
	}
}

// ping answers without asking the state: it shows that this port serves.
func (c *conn) ping(argv [][]byte) {
	text := ""
	if len(argv) > 1 {
		text = string(argv[1])
	}
	switch {
	case len(argv) > 2:
		c.emit(command.ErrArity("ping"))
	case c.subscribed() && !c.proto3:
		c.emit(reply.Array(reply.Bulk("pong"), reply.Bulk(text)))
	case len(argv) > 1:
		c.emit(reply.Bulk(text))
	default:
		c.emit(reply.Status("PONG"))
	}
}

func (c *conn) echo(argv [][]byte) { c.emit(reply.Bulk(string(argv[1]))) }

var lineBreaks = strings.NewReplacer("\r", " ", "\n", " ")

// oneLine returns a word as Redis shows it in an error: up to its first zero byte, on one line.
func oneLine(word []byte) string {
	word, _, _ = bytes.Cut(word, []byte{0})
	return lineBreaks.Replace(string(word))
}
