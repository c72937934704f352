package report

import "math"

// frame places sizes and figures on a chart's drawing.
type frame struct {
	low, high   float64 // sizes
	least, most float64 // figures, the ends of their axis
	step        float64 // between two figures of the axis, unless it grows by factors
	powers      bool
}

func (c *Chart) frame() frame {
	f := frame{low: math.Inf(1), least: math.Inf(1), powers: c.Powers}
	for _, l := range c.Lines {
		for _, p := range l.Points {
			f.low, f.high = min(f.low, p.Size), max(f.high, p.Size)
			f.least, f.most = min(f.least, p.Figure), max(f.most, p.Figure)
		}
	}
	switch {
	case !(f.most > 0):
	case f.powers:
		f.least, f.most = math.Pow(10, math.Floor(math.Log10(f.least))), math.Pow(10, math.Ceil(math.Log10(f.most)))
	default:
		f.step = roundStep(f.most / 4)
		f.least, f.most = 0, f.step*math.Ceil(f.most/f.step)
	}
	return f
}

// roundStep is the smallest of 1, 2, 2.5 and 5 times a power of ten that is at least v.
func roundStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, digit := range []float64{1, 2, 2.5, 5} {
		if digit*power >= v {
			return digit * power
		}
	}
	return 10 * power
}

// ticks are the figures that the axis names.
func (f frame) ticks() (all []float64) {
	if !f.powers {
		for i := 0.0; i*f.step <= f.most; i++ {
			all = append(all, i*f.step)
		}
		return all
	}
	for v := f.least; v <= f.most*1.01; v *= 10 {
		all = append(all, v)
	}
	return all
}

func (f frame) x(size float64) float64 {
	part := 0.0
	if f.high > f.low {
		part = math.Log(size/f.low) / math.Log(f.high/f.low)
	}
	// Names and values of the first and the last point want room.
	return chartLeft + 24 + part*(chartWidth-chartLeft-chartRight-48)
}

func (f frame) y(figure float64) float64 {
	part := 0.0
	switch {
	case f.most <= f.least:
	case f.powers:
		part = math.Log(figure/f.least) / math.Log(f.most/f.least)
	default:
		part = (figure - f.least) / (f.most - f.least)
	}
	return chartHeight - chartBottom - part*(chartHeight-chartTop-chartBottom)
}
