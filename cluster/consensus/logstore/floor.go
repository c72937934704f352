package logstore

// Floor is the free space of a disk below which writes are refused. The zero value is the default: 5 % of the disk, and
// 8 GiB of a disk larger than 160 GiB, since what a node writes does not grow with its disk.
type Floor struct {
	// Bytes is a fixed number of bytes; 0 means by Share.
	Bytes uint64
	// Share is a share of the disk, from 0 to 1; 0 means the default.
	Share float64
}

const (
	defaultFloorShare = 0.05
	defaultFloorMost  = 8 << 30
	// alarmFloors is the number of floors that must be free for a disk not to raise the alarm.
	alarmFloors = 4
)

// Of returns the floor of a disk of total bytes.
func (f Floor) Of(total uint64) uint64 {
	switch {
	case f.Bytes != 0:
		return f.Bytes
	case f.Share != 0:
		return uint64(f.Share * float64(total))
	}
	return min(uint64(defaultFloorShare*float64(total)), defaultFloorMost)
}

// Alarm returns the free space below which the operator should act: four floors.
func (f Floor) Alarm(total uint64) uint64 {
	return alarmFloors * f.Of(total)
}
