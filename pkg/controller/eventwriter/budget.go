package eventwriter

import "time"

// budget is a token bucket.
type budget struct {
	spent int
	// since is when the oldest spent token began to refill.
	since time.Time
}

func (b *budget) left(now time.Time) int {
	if back := int(now.Sub(b.since) / lanePeriod); back > 0 {
		b.spent = max(0, b.spent-back)
		b.since = b.since.Add(time.Duration(back) * lanePeriod)
	}
	if b.spent == 0 {
		b.since = now
	}
	return max(0, laneBurst-b.spent)
}

func (b *budget) spend() { b.spent++ }

// wait returns the time until the next token.
func (b *budget) wait(now time.Time) time.Duration { return b.since.Add(lanePeriod).Sub(now) }
