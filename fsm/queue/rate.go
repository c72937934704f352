package queue

// MaxBurst is the largest burst of a rate.
const MaxBurst = 1_000_000_000

// The rate of a flow-control key is kept by windows, or, with a burst, by a token bucket. Each attempt takes as many of the window or
// as many tokens as its message costs. One that costs more than there can be at all is admitted by a fresh window or a full bucket: of
// the window it takes all, and the bucket owes the rest.

// setRate gives a key another rate. A bucket keeps its tokens, as far as it holds them; a new one is full.
func (fk *FlowKey) setRate(rate int, period int64, burst int, now int64) {
	if period <= 0 {
		period = DefaultPeriod
	}
	fk.rollWindow(now)
	if rate <= 0 || burst <= 0 {
		fk.Rate, fk.Period, fk.Burst, fk.credit, fk.filled = rate, period, 0, 0, 0
		return
	}
	burst, period = min(burst, MaxBurst), min(period, MaxPeriod)
	full := int64(burst) * period
	if fk.Burst == 0 {
		fk.credit, fk.filled = full, now
	} else {
		fk.fill(now)
		fk.credit = min(fk.credit/fk.Period*period+fk.credit%fk.Period*period/fk.Period, full)
	}
	fk.Rate, fk.Period, fk.Burst = rate, period, burst
}

// resetRate begins a new window, or fills the bucket.
func (fk *FlowKey) resetRate(now int64) {
	fk.WindowStart, fk.Count = now, 0
	if fk.Burst > 0 {
		fk.credit, fk.filled = fk.full(), now
	}
}

// keepSane drops the bucket of a key that was read and can't have one.
func (fk *FlowKey) keepSane() {
	if fk.Rate <= 0 || fk.Period <= 0 || fk.Period > MaxPeriod || fk.Burst < 0 || fk.Burst > MaxBurst {
		fk.Burst = 0
	}
	fk.credit = max(min(fk.credit, fk.full()), -MaxCost*max(fk.Period, 0))
}

// full returns the size of a bucket. It is counted in tokens times Period, of which Rate come in each millisecond, so that nothing is rounded.
func (fk *FlowKey) full() int64 { return int64(fk.Burst) * fk.Period }

// fill adds to a bucket what has come since it was filled.
func (fk *FlowKey) fill(now int64) {
	if at := fk.fullAt(); at <= now {
		fk.credit = fk.full()
	} else if now > fk.filled {
		fk.credit += (now - fk.filled) * int64(fk.Rate)
	}
	fk.filled = max(fk.filled, now)
}

// fullAt is the time at which a bucket is full, 0 for a key without one.
func (fk *FlowKey) fullAt() int64 {
	if fk.Burst == 0 {
		return 0
	}
	return fk.reaches(fk.full())
}

// reaches is the time at which a bucket holds so much.
func (fk *FlowKey) reaches(credit int64) int64 {
	if fk.credit >= credit {
		return fk.filled
	}
	return fk.filled + (credit-fk.credit-1)/int64(fk.Rate) + 1
}

// rateAdmits returns the time from which the rate admits a message of that cost; one that is not after now if it does so now.
func (fk *FlowKey) rateAdmits(cost int, now int64) int64 {
	switch {
	case fk.Rate <= 0:
		return 0
	case fk.Burst > 0:
		return fk.reaches(int64(min(cost, fk.Burst)) * fk.Period)
	case fk.Count > 0 && fk.Count+cost > fk.Rate:
		return fk.WindowStart + fk.Period
	}
	return 0
}

// take counts a claim of a message of that cost.
func (fk *FlowKey) take(cost int, now int64) {
	fk.rollWindow(now)
	fk.Count += cost
	if fk.Burst > 0 {
		fk.fill(now)
		fk.credit -= int64(cost) * fk.Period
	}
}

// Tokens returns how many whole tokens the bucket of a key holds at a time; fewer than 0 are owed. It is 0 for a key without one.
func (fk *FlowKey) Tokens(now int64) int {
	if fk.Burst == 0 {
		return 0
	}
	f := *fk
	f.fill(now)
	whole := f.credit / f.Period
	if f.credit%f.Period < 0 {
		whole--
	}
	return int(whole)
}

// rollWindow begins a new window if the old one has passed. Windows follow one another without gaps, however late the
// first claim in one is.
func (fk *FlowKey) rollWindow(now int64) {
	if gone := now - fk.WindowStart; fk.Period > 0 && gone >= fk.Period {
		fk.WindowStart += gone / fk.Period * fk.Period
		fk.Count = 0
	}
}
