package command

import (
	"github.com/trireme-dev/trireme/fsm/rdb"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// ValuesOf returns the values of those keys that rows name and a run keeps, as they are now, in the order of the rows and each once: at
// most so many values with so many bytes. Of one that is too large, or has no room any more, it is said that there is one. more counts the
// keys beyond.
func (tx *Tx) ValuesOf(rows [][][]byte, names []string, values, bytes int) (list []workflow.KeptValue, more int) {
	seen := map[string]bool{}
	for _, row := range rows {
		c := tx.Table.Find(row)
		if c == nil || c.Keys.overcounted(row) {
			continue
		}
		for _, at := range c.Keys.Positions(row) {
			key := string(row[at])
			if seen[key] || !workflow.Keeps(names, key) {
				continue
			}
			if seen[key] = true; len(list) == values {
				more++
				continue
			}
			v := tx.valueOf(key, bytes)
			list, bytes = append(list, v), bytes-len(v.Dump)
		}
	}
	return list, more
}

// valueOf returns the value of a key, without its bytes if they are more than a run keeps, or than there is room for.
func (tx *Tx) valueOf(key string, room int) workflow.KeptValue {
	v := workflow.KeptValue{Key: key}
	o := tx.DB.Find(tx.Env, []byte(key))
	if o == nil {
		return v
	}
	if v.Type, v.Size = o.Type().String(), o.Size(); o.Expire != 0 {
		v.Expires = tx.Wall + o.Expire.Left(tx.Time)
	}
	tx.work.used += dumpedElement * tx.volume([]byte(key))
	if v.Size > workflow.MaxKeptValue {
		return v
	}
	if dump, err := rdb.Dump(o, tx.Time); err == nil {
		if v.Size = int64(len(dump)); len(dump) <= min(room, workflow.MaxKeptValue) {
			v.Dump = dump
		}
	}
	return v
}
