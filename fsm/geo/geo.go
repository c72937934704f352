package geo

import "math"

// Point is a place in degrees.
type Point struct{ Longitude, Latitude float64 }

// The places that can be stored: the square of the web's maps.
const (
	maxLongitude = 180
	maxLatitude  = 85.05112878
)

const (
	maxStep     = 26                     // bits of each axis
	earthRadius = 6372797.560856         // in metres
	mercatorMax = 20037726.37            // half of the equator, in metres
	degree      = float64(math.Pi) / 180 // in radians, rounded as in C
	odd         = 0xaaaaaaaaaaaaaaaa     // the bits of longitude
	even        = 0x5555555555555555     // and of latitude
)

// Valid reports whether p can be stored.
func (p Point) Valid() bool {
	return p.Longitude >= -maxLongitude && p.Longitude <= maxLongitude && p.Latitude >= -maxLatitude && p.Latitude <= maxLatitude
}

// cell is an area: the highest step bits of each axis, latitude in the even places.
type cell struct {
	bits uint64
	step uint
}

// encode is the cell that holds p, which is valid.
func encode(p Point, latitudes float64, step uint) cell {
	lat := (p.Latitude + latitudes) / (latitudes + latitudes)
	lon := (p.Longitude + maxLongitude) / (maxLongitude + maxLongitude)
	scale := float64(uint64(1) << step)
	return cell{spread(uint32(float64(lat*scale))) | spread(uint32(float64(lon*scale)))<<1, step}
}

// Score is the number that p, which is valid, is stored as.
func Score(p Point) float64 { return float64(encode(p, maxLatitude, maxStep).bits) }

// spread puts the bits of v into the even places.
func spread(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	x = (x | x<<2) & 0x3333333333333333
	return (x | x<<1) & even
}

// gather takes the bits in the even places.
func gather(x uint64) uint32 {
	x &= even
	x = (x | x>>1) & 0x3333333333333333
	x = (x | x>>2) & 0x0f0f0f0f0f0f0f0f
	x = (x | x>>4) & 0x00ff00ff00ff00ff
	x = (x | x>>8) & 0x0000ffff0000ffff
	return uint32(x | x>>16)
}

// area is the extent of a cell, in degrees.
type area struct{ west, east, south, north float64 }

func (c cell) area() area {
	lat, lon := gather(c.bits), gather(c.bits>>1)
	scale := float64(uint64(1) << c.step)
	const latitudes, longitudes = maxLatitude + maxLatitude, maxLongitude + maxLongitude
	at := func(least, size float64, i uint32) float64 {
		return least + float64(float64(float64(i)/scale)*size)
	}
	return area{
		west: at(-maxLongitude, longitudes, lon), east: at(-maxLongitude, longitudes, lon+1),
		south: at(-maxLatitude, latitudes, lat), north: at(-maxLatitude, latitudes, lat+1),
	}
}

// Decode is the middle of the cell that a score stands for. Any number is one, as in
// Redis: it is cut to 64 bits.
func Decode(score float64) Point {
	a := cell{whole(score), maxStep}.area()
	return Point{
		Longitude: min(max((a.west+a.east)/2, -maxLongitude), maxLongitude),
		Latitude:  min(max((a.south+a.north)/2, -maxLatitude), maxLatitude),
	}
}

// whole turns a number into 64 bits as the usual processors do; Go leaves it to the
// processor.
func whole(f float64) uint64 {
	const half = 1 << 63
	switch {
	case f >= -half && f < half:
		return uint64(int64(f))
	case f >= half && f < 2*half:
		return uint64(int64(f-half)) ^ half
	case f >= 2*half:
		return 0
	}
	return half
}

const alphabet = "0123456789bcdefghjkmnpqrstuvwxyz"

// Hash is the standard geohash of a score: 11 characters, over all latitudes. The last
// is always 0, because 52 bits fill ten.
func Hash(score float64) string {
	bits := encode(Decode(score), 90, maxStep).bits
	var text [11]byte
	for i := range 10 {
		text[i] = alphabet[bits>>(52-5*(i+1))&31]
	}
	text[10] = alphabet[0]
	return string(text[:])
}

// Distance is the length of the great circle between two places, in metres, on a
// sphere.
func Distance(a, b Point) float64 {
	east := sin((float64(b.Longitude*degree) - float64(a.Longitude*degree)) / 2)
	if east == 0 {
		return latitudeDistance(a.Latitude, b.Latitude)
	}
	lat1, lat2 := float64(a.Latitude*degree), float64(b.Latitude*degree)
	north := sin((lat2 - lat1) / 2)
	h := float64(north*north) + float64(float64(float64(cos(lat1)*cos(lat2))*east)*east)
	return 2 * earthRadius * asin(min(math.Sqrt(h), 1)) // rounding may go beyond 1 at the antipodes
}

// latitudeDistance is the way along a meridian, in metres.
func latitudeDistance(a, b float64) float64 {
	return earthRadius * math.Abs(float64(b*degree)-float64(a*degree))
}
