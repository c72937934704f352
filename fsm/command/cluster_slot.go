package command

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// slots is the number of hash slots of Redis Cluster.
const slots = 16384

// crcTable is that of CRC-16/XMODEM, by which Redis Cluster spreads keys.
var crcTable = func() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
		table[i] = crc
	}
	return table
}()

// slotOf is the slot of a key: that of the text between its first brace and the next
// closing one, if there is any, otherwise of the whole key.
func slotOf(key string) int64 {
	if _, rest, found := strings.Cut(key, "{"); found {
		if tag, _, closed := strings.Cut(rest, "}"); closed && tag != "" {
			key = tag
		}
	}
	crc := uint16(0)
	for i := range len(key) {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^key[i]]
	}
	return int64(crc % slots)
}

func clusterKeySlot(_ *Tx, a *Args) reply.Value {
	key := a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	return reply.Int(slotOf(key))
}

var errSlot = reply.Error("ERR Invalid slot")

func (a *Args) slot() int64 {
	n := a.Int()
	if n < 0 || n >= slots {
		a.Fail(errSlot)
	}
	return n
}

// eachInSlot calls f for the keys of a slot until it returns false. Nothing else needs to
// know a key's slot, so there is no index of it.
func (tx *Tx) eachInSlot(slot int64, f func(key string) bool) {
	tx.DB.All(tx.Env, func(key string, _ *keyspace.Object) bool { return slotOf(key) != slot || f(key) })
}

func clusterCountKeys(tx *Tx, a *Args) reply.Value {
	slot := a.slot()
	if err, ok := a.Done(); !ok {
		return err
	}
	n := int64(0)
	tx.eachInSlot(slot, func(string) bool {
		n++
		return true
	})
	return reply.Int(n)
}

var errSlotCount = reply.Error("ERR Invalid slot or number of keys")

func clusterGetKeys(tx *Tx, a *Args) reply.Value {
	slot, limit := a.Int(), a.Int()
	if slot < 0 || slot >= slots || limit < 0 {
		a.Fail(errSlotCount)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	var found []reply.Value
	tx.eachInSlot(slot, func(key string) bool {
		if int64(len(found)) < limit {
			found = append(found, reply.Bulk(key))
		}
		return int64(len(found)) < limit
	})
	return reply.Array(found...)
}
