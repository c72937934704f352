package env

import "encoding/binary"

// Chance is a number for what is no part of the state, such as how often a key was used. It does not move the generator,
// and must not reach the state.
func (e *Env) Chance(salt uint64) uint64 {
	x := binary.LittleEndian.Uint64(e.seed[:8]) ^ binary.LittleEndian.Uint64(e.seed[8:])*0x9e3779b97f4a7c15 ^ salt ^ uint64(e.place)<<40 ^ uint64(e.Now)<<20
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
