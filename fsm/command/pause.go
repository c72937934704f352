package command

import "github.com/trireme-dev/trireme/fsm/script"

// MayReplicate reports whether a call may change what others see, whatever its arguments turn
// out to do, in Redis's sense: CLIENT PAUSE holds such calls back in its mode WRITE. Scripts are
// among them unless they say of themselves that they only read. Redis keeps the result of
// PFCOUNT with its key.
func (c *Command) MayReplicate(tx *Tx, argv [][]byte) bool {
	switch c.Name {
	case "publish", "spublish", "pfcount":
		return true
	case "script load", "script flush":
		return false
	case "eval", "evalsha", "fcall":
		return !tx.declaredReadOnly(c.Name, string(argv[1]))
	}
	return c.Flags&Write != 0 && c.Flags&Admin == 0
}

// declaredReadOnly reports whether a script, named as the command names it, or a function has
// the flag no-writes.
func (tx *Tx) declaredReadOnly(command, name string) bool {
	if command == "fcall" {
		_, f := tx.Scripts.Function(name)
		return f != nil && f.ReadOnly()
	}
	body := name
	if command == "evalsha" {
		body, _ = tx.Scripts.Script(string(lower(nil, []byte(name))))
	}
	head, err := script.ParseShebang(body, script.Tolerant)
	return err == nil && head.ReadOnly()
}
