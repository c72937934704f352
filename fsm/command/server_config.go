package command

import (
	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// Config are the replicated parameters of CONFIG.
type Config struct {
	// Notify are the classes of keyspace events that are sent.
	Notify Events
	// differs is by how much each setting differs from what it is at first.
	differs [settingsCount]int64
}

// Initial reports whether all settings are what they are at first.
func (c *Config) Initial() bool { return *c == Config{} }

// notifyName is the one parameter that is no number.
const notifyName = "notify-keyspace-events"

// configGet answers the parameters that match a pattern.
func configGet(tx *Tx, a *Args) reply.Value {
	patterns, pairs := []string{}, []reply.Value(nil)
	for _, pattern := range a.Rest() {
		patterns = append(patterns, ascii.Lower(string(pattern)))
	}
	for _, pattern := range patterns {
		if tx.matches(pattern, notifyName) {
			pairs = []reply.Value{reply.Bulk(notifyName), reply.Bulk(tx.Config.Notify.String())}
			break
		}
	}
	return reply.Map(tx.appendParameters(pairs, patterns)...)
}

// tellsParameters reports whether parameters that can't be set here are shown.
func (tx *Tx) tellsParameters() bool { return !tx.dialect().oneParameter }

// change collects the new values of the parameters of one CONFIG SET.
type change struct {
	tx       *Tx
	config   Config
	notify   bool
	settings [settingsCount]string // the names by which they were given
}

// configSet changes parameters, all of them or none.
func configSet(tx *Tx, a *Args) reply.Value {
	words := a.Rest()
	if len(words)%2 != 0 {
		return ErrSyntax
	}
	c := change{tx: tx, config: *tx.Config}
	for i := 0; i < len(words); i += 2 {
		known, wrong := c.parameter(ascii.Lower(string(words[i])), string(words[i+1]))
		switch {
		case !known:
			return reply.Error("ERR Unknown option or number of arguments for CONFIG SET - '" + shown(string(words[i])) + "'")
		case wrong != "":
			return reply.Error("ERR CONFIG SET failed (possibly related to argument '" + shown(string(words[i])) + "') - " + wrong)
		}
	}
	*tx.Config = c.config
	if c.notify {
		tx.Arm()
	}
	return reply.OK()
}

const twiceGiven = "duplicate parameter"

// parameter takes one parameter: whether it is known, and what is wrong with it.
func (c *change) parameter(name, value string) (known bool, wrong string) {
	if name == notifyName {
		return true, c.events(value)
	}
	if !c.tx.tellsParameters() {
		return false, ""
	}
	if at := settingAt(name); at >= 0 {
		return true, c.number(at, name, value)
	}
	p := c.tx.parameter(name)
	if p == nil {
		return false, ""
	}
	if ascii.EqualFold(value, p.value(c.tx)) {
		return true, "" // a tool sets what it needs, and has it
	}
	return true, "can't be set: " + p.why
}

func (c *change) events(value string) (wrong string) {
	events, ok := ParseEvents(value)
	switch {
	case c.notify:
		return twiceGiven
	case !ok:
		return "Invalid event class character. Use 'Ag$lshzxeKEtmdn'."
	}
	c.config.Notify, c.notify = events, true
	return ""
}

// number takes a setting, which may stand under both of its names: then the last one holds.
func (c *change) number(at int, name, value string) (wrong string) {
	if c.settings[at] == name {
		return twiceGiven
	}
	parse := settings[at].parse
	if at == evictionPolicy {
		parse = parsePolicy
	}
	n, wrong := parse(value)
	if wrong == "" {
		c.config.set(at, n)
		c.settings[at] = name
	}
	return wrong
}
