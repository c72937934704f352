package env

import "encoding/binary"

// TellCall leaves a command that a script calls for monitors.
func (e *Env) TellCall(words [][]byte) {
	var text []byte
	for _, w := range words {
		text = append(binary.AppendUvarint(text, uint64(len(w))), w...)
	}
	e.Notifications = append(e.Notifications, Notification{Kind: ScriptCalled, DB: e.Database, Message: string(text), Serial: uint64(e.Row), Index: e.Index, Place: e.Place()})
}

// TellRead leaves for those who keep copies that a script reads. Further reads say nothing new until
// something else has happened.
func (e *Env) TellRead() {
	n := Notification{Kind: ScriptRead, DB: e.Database, Serial: uint64(e.Row), Index: e.Index, Place: e.Place()}
	if last := len(e.Notifications) - 1; last < 0 || e.Notifications[last] != n {
		e.Notifications = append(e.Notifications, n)
	}
}

// TellScript leaves the end of a script for monitors, and for those who keep copies.
func (e *Env) TellScript() {
	e.Notifications = append(e.Notifications, Notification{Kind: ScriptEnded, DB: e.Database, Serial: uint64(e.Row), Index: e.Index, Place: e.Place()})
}

// Words are the words of a command in a ScriptCalled notification.
func (n *Notification) Words() (words [][]byte) {
	for text := []byte(n.Message); len(text) > 0; {
		size, used := binary.Uvarint(text)
		if used <= 0 || size > uint64(len(text)-used) {
			return words
		}
		text = text[used:]
		words, text = append(words, text[:size]), text[size:]
	}
	return words
}
