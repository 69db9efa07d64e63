//go:build unix

package main

import "context"

// huge is bulk with the Job that the targets refer to: it has so many pods that memory and CPU depend on the pods and
// hardly on the process itself.
func (b *bench) huge(ctx context.Context) ([]bulk, error) {
	if err := b.warmUp(ctx, b.hugePods); err != nil {
		return nil, err
	}
	var list []bulk
	order := turns(b.hugeRounds, ours, builtIn, floor)
	for i, s := range order {
		r, err := b.bulk(ctx, s, b.hugePods)
		if r.Seconds > 0 {
			progress("Huge %d/%d, %d indexes, %s: %.1f s", i+1, len(order), b.hugePods, s, r.Seconds)
			list = append(list, r)
		}
		if err != nil {
			return list, err
		}
	}
	return list, nil
}
