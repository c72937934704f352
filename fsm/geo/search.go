package geo

import "math"

// Shape is the area of a search: a circle, or a box that stands upright on the map.
// Lengths are in metres.
type Shape struct {
	Center        Point
	Radius        float64
	Box           bool
	Width, Height float64
}

// Distance returns the distance of p from the centre, in metres, if p lies in the shape.
func (s *Shape) Distance(p Point) (metres float64, in bool) {
	if s.Box {
		if latitudeDistance(p.Latitude, s.Center.Latitude) > s.Height/2 ||
			Distance(p, Point{s.Center.Longitude, p.Latitude}) > s.Width/2 {
			return 0, false
		}
		return Distance(s.Center, p), true
	}
	// The way along the meridian is shorter and costs nothing; the margin is for rounding.
	if latitudeDistance(p.Latitude, s.Center.Latitude) > s.Radius*1.000001+1 {
		return 0, false
	}
	metres = Distance(s.Center, p)
	return metres, metres <= s.Radius
}

// Span is a range of scores, the last excluded.
type Span struct{ From, To float64 }

// Spans are the ranges of scores that hold the places within the shape, and others: a
// cell that is about as large as the shape, and its neighbours as far as they can
// matter, in Redis's order, which shows in replies that are not sorted.
func (s *Shape) Spans() []Span {
	box := s.bounds()
	step := s.step()
	center := encode(s.Center, maxLatitude, step)
	if step > 1 && !covered(center, box) {
		step--
		center = encode(s.Center, maxLatitude, step)
	}
	var spans []Span
	var last cell
	for i, way := range ways {
		c := center.move(way.east, way.north)
		if step >= 2 && useless(center.area(), box, way) || i > 1 && c == last {
			continue
		}
		spans, last = append(spans, c.span()), c
	}
	return spans
}

// ways are the steps to a cell's neighbours, itself first.
var ways = []struct{ east, north int }{{0, 0}, {0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}}

// covered reports whether a cell and its neighbours reach all sides of the box.
func covered(c cell, box area) bool {
	return c.move(0, 1).area().north >= box.north && c.move(0, -1).area().south <= box.south &&
		c.move(1, 0).area().east >= box.east && c.move(-1, 0).area().west <= box.west
}

// useless reports whether the box does not reach into the neighbour that lies there.
func useless(center, box area, way struct{ east, north int }) bool {
	return way.north < 0 && center.south < box.south || way.north > 0 && center.north > box.north ||
		way.east < 0 && center.west < box.west || way.east > 0 && center.east > box.east
}

// bounds is the box around the shape, in degrees. It is wrong around the poles, in
// Redis's way.
func (s *Shape) bounds() area {
	height, width := s.Radius, s.Radius
	if s.Box {
		height, width = s.Height/2, s.Width/2
	}
	lat := height / earthRadius / degree
	top := width / earthRadius / cos(float64((s.Center.Latitude+lat)*degree)) / degree
	bottom := width / earthRadius / cos(float64((s.Center.Latitude-lat)*degree)) / degree
	lon := top
	if s.Center.Latitude < 0 {
		lon = bottom
	}
	return area{
		west: s.Center.Longitude - lon, east: s.Center.Longitude + lon,
		south: s.Center.Latitude - lat, north: s.Center.Latitude + lat,
	}
}

// step returns the finest level of cells of which one and its neighbours cover the shape.
func (s *Shape) step() uint {
	reach := s.Radius
	if s.Box {
		w, h := s.Width/2, s.Height/2
		reach = math.Sqrt(float64(w*w) + float64(h*h))
	}
	if reach == 0 {
		return maxStep
	}
	step := 1
	for ; reach < mercatorMax; reach *= 2 {
		step++
	}
	step -= 2
	if lat := math.Abs(s.Center.Latitude); lat > 80 {
		step -= 2
	} else if lat > 66 {
		step--
	}
	return uint(min(max(step, 1), maxStep))
}

// move is the cell that lies so many cells to the east and north, at most one each;
// the map's edges are joined.
func (c cell) move(east, north int) cell {
	all := uint64(math.MaxUint64) >> (64 - 2*c.step)
	if east != 0 {
		c.bits = shift(c.bits&odd, even&all, east)&odd&all | c.bits&even
	}
	if north != 0 {
		c.bits = shift(c.bits&even, odd&all, north)&even&all | c.bits&odd
	}
	return c
}

// shift moves an axis by one, where filler is the other axis's bits: a carry runs over
// them.
func shift(axis, filler uint64, by int) uint64 {
	if by > 0 {
		return axis + filler + 1
	}
	return (axis | filler) - (filler + 1)
}

// span is the range of scores within the cell.
func (c cell) span() Span {
	up := 2 * (maxStep - c.step)
	return Span{float64(c.bits << up), float64((c.bits + 1) << up)}
}
