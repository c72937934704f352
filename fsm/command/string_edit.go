package command

import "github.com/trireme-dev/trireme/fsm/reply"

// maxString is the greatest length of a string: 512 MiB.
const maxString = 512 << 20

var (
	errStringSize = reply.Error("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
	errOffset     = reply.Error("ERR offset is out of range")
)

func appendText(tx *Tx, a *Args) reply.Value {
	key, suffix := a.Bytes(), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	o, ok := tx.findText(key)
	if !ok {
		return ErrWrongType
	}
	if o.Len()+len(suffix) > maxString {
		return errStringSize
	}
	n := tx.DB.AppendText(tx.Env, key, o, suffix)
	tx.Event(StringEvent, "append", key)
	return reply.Int(int64(n))
}

func setRange(tx *Tx, a *Args) reply.Value {
	key, offset, part := a.Bytes(), a.Int(), a.Bytes()
	if offset < 0 {
		a.Fail(errOffset)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	o, ok := tx.findText(key)
	if !ok {
		return ErrWrongType
	}
	if len(part) == 0 {
		return reply.Int(int64(o.Len()))
	}
	if offset > int64(maxString-len(part)) {
		return errStringSize
	}
	n := tx.DB.WriteAt(tx.Env, key, o, int(offset), part)
	tx.Event(StringEvent, "setrange", key)
	return reply.Int(int64(n))
}
