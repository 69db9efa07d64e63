package schema

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// checkQuantity checks an amount of a resource.
func (w *walk) checkQuantity(s *Schema, value any) (any, bool) {
	given := value
	switch value.(type) {
	case string:
	case int64, float64:
		value = fmt.Sprint(value)
	default:
		return w.wrongType(s, value)
	}
	amount, err := resource.ParseQuantity(strings.TrimSpace(value.(string)))
	isTiny := err == nil && w.isBytes() && amount.Sign() > 0 && amount.Cmp(resource.MustParse("1Ki")) < 0
	if err == nil && !isTiny {
		return value, true
	}
	literal, isText := given.(string)
	if !isText {
		literal = scalar(given, w.written())
	}
	if isTiny {
		// The unit is probably wrong: m is a thousandth.
		digits := strings.TrimRight(literal, "m")
		message := w.subject() + " is " + literal + ", less than a kibibyte"
		if digits != literal {
			message = fmt.Sprintf("%s is %s, which is %s thousandths of a byte", w.subject(), literal, digits)
		}
		w.report(Problem{ID: "quantity-tiny", Path: w.path(), Fix: "write " + digits + "M or " + digits + "Mi for megabytes", Message: message, Accepted: true})
		return value, true
	}
	w.report(Problem{
		ID: "quantity-invalid", Path: w.path(), Fix: quantityFix(literal, w.isBytes()),
		Message: fmt.Sprintf("%s is %s, which is not a quantity", w.subject(), quoted(literal)),
	})
	w.remove()
	return nil, false
}

// isBytes reports whether the quantity at the current place is measured in bytes.
func (w *walk) isBytes() bool {
	switch name := w.steps[len(w.steps)-1].name; name {
	case "memory", "ephemeral-storage", "storage", "sizeLimit":
		return true
	default:
		return strings.HasPrefix(name, "hugepages-")
	}
}

// amount is a number with a unit.
var amount = regexp.MustCompile(`^\s*([+-]?[0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*$`)

// units are the correct suffixes of quantities, by common wrong ones.
var units = map[string]string{
	"k": "k or Ki", "kb": "k or Ki", "kib": "Ki", "ki": "Ki",
	"mb": "M or Mi", "mib": "Mi", "mi": "Mi", "meg": "M or Mi",
	"g": "G or Gi", "gb": "G or Gi", "gib": "Gi", "gi": "Gi", "gig": "G or Gi",
	"t": "T or Ti", "tb": "T or Ti", "tib": "Ti", "ti": "Ti",
	"p": "P or Pi", "pb": "P or Pi", "pib": "Pi", "pi": "Pi",
	"b": "", "byte": "", "bytes": "", "cpu": "", "cpus": "", "core": "", "cores": "", "vcpu": "",
	"mcpu": "m", "millicpu": "m", "millicores": "m", "milli": "m",
}

// quantityFix returns a suggestion for the intended quantity.
func quantityFix(literal string, bytes bool) string {
	example := "write a number with a unit, such as 500m or 2"
	if bytes {
		example = "write a number with a unit, such as 512Mi or 2Gi"
	}
	found := amount.FindStringSubmatch(literal)
	if found == nil {
		return example
	}
	number, unit := found[1], found[2]
	if strings.HasPrefix(number, "-") {
		return example
	}
	if _, err := resource.ParseQuantity(number + unit); err == nil {
		return "write " + number + unit
	}
	known, isKnown := units[strings.ToLower(unit)]
	switch {
	case strings.EqualFold(unit, "m") && bytes:
		known, isKnown = "M or Mi", true
	case strings.EqualFold(unit, "m"):
		known, isKnown = "m", true
	}
	if !isKnown {
		return example
	}
	return "write " + number + strings.Replace(known, " or ", " or "+number, 1)
}
