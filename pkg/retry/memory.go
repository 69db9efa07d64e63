package retry

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// MemoryRaise is how much more memory a retry gets: times a factor, or plus an amount, up to a cap.
type MemoryRaise struct {
	factor *big.Rat // nil if an amount is added
	add    resource.Quantity
	most   *resource.Quantity // nil for defaultCap
}

// defaultCap is the cap of a MemoryRaise without one, times the limit of the first Job.
const defaultCap = 8

var isFactor = lazyregexp.New(`^x[0-9]{1,9}(\.[0-9]{1,9})?$`)

// ParseMemoryRaise parses "x2", "+4Gi" or "x1.5,max=32Gi".
func ParseMemoryRaise(text string) (*MemoryRaise, error) {
	by, rest, hasMax := strings.Cut(text, ",")
	r := &MemoryRaise{}
	switch {
	case isFactor.MatchString(by):
		r.factor, _ = new(big.Rat).SetString(by[1:])
		if r.factor.Cmp(big.NewRat(1, 1)) <= 0 {
			return nil, fmt.Errorf("%s does not raise it", by)
		}
	case strings.HasPrefix(by, "+"):
		amount, err := resource.ParseQuantity(by[1:])
		if err != nil || amount.Sign() <= 0 {
			return nil, fmt.Errorf("%s is not a quantity such as +4Gi", by)
		}
		r.add = amount
	default:
		return nil, fmt.Errorf("use a factor or an amount, such as x2 or +4Gi")
	}
	if !hasMax {
		return r, nil
	}
	limit, isMax := strings.CutPrefix(rest, "max=")
	most, err := resource.ParseQuantity(limit)
	if err != nil || !isMax || most.Sign() <= 0 {
		return nil, fmt.Errorf("%q is not a cap such as max=32Gi", rest)
	}
	r.most = &most
	return r, nil
}

// CapOf returns the highest limit, for a Job whose first limit was first.
func (r *MemoryRaise) CapOf(first resource.Quantity) resource.Quantity {
	if r.most != nil {
		return *r.most
	}
	return inUnit(new(big.Int).Mul(big.NewInt(first.Value()), big.NewInt(defaultCap)), first.Format)
}

// HasDefaultCap reports whether the cap is a multiple of the first limit.
func (r *MemoryRaise) HasDefaultCap() bool { return r.most == nil }

// Next returns the limit after old, at most CapOf(first); false if old is not below that.
func (r *MemoryRaise) Next(old, first resource.Quantity) (resource.Quantity, bool) {
	most := r.CapOf(first)
	if old.Cmp(most) >= 0 {
		return old, false
	}
	var next resource.Quantity
	if r.factor != nil {
		next = scaled(old, r.factor)
	} else {
		next = inUnit(new(big.Int).Add(big.NewInt(old.Value()), big.NewInt(r.add.Value())), old.Format)
	}
	if next.Cmp(most) > 0 {
		next = most
	}
	return next, true
}

// requestFor returns a request that was request of limit, in the same ratio to next.
func requestFor(request, limit, next resource.Quantity) resource.Quantity {
	if limit.Sign() <= 0 || request.Cmp(limit) == 0 {
		return next
	}
	raised := scaled(request, big.NewRat(next.Value(), limit.Value()))
	if raised.Cmp(next) > 0 {
		return next
	}
	return raised
}

// scaled returns the quantity times the factor, rounded up.
func scaled(q resource.Quantity, factor *big.Rat) resource.Quantity {
	product := new(big.Rat).Mul(new(big.Rat).SetInt64(q.Value()), factor)
	value, rest := new(big.Int).QuoRem(product.Num(), product.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		value.Add(value, big.NewInt(1))
	}
	return inUnit(value, q.Format)
}

// inUnit returns the bytes in a format. Above a mebibyte or a megabyte, it rounds up to a whole one.
func inUnit(bytes *big.Int, format resource.Format) resource.Quantity {
	unit := big.NewInt(1e6)
	if format == resource.BinarySI {
		unit = big.NewInt(1 << 20)
	}
	if bytes.Cmp(unit) > 0 {
		bytes = new(big.Int).Add(bytes, new(big.Int).Sub(unit, big.NewInt(1)))
		bytes.Sub(bytes, new(big.Int).Mod(bytes, unit))
	}
	value := int64(math.MaxInt64)
	if bytes.IsInt64() {
		value = bytes.Int64()
	}
	return *resource.NewQuantity(value, format)
}
