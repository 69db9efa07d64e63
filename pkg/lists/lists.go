// Package lists searches and sorts lists of structs.
package lists

// First returns a pointer to the first element for which is reports true, nil if there is none.
func First[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// FalseFirst compares two bools for a sort that puts false first.
func FalseFirst(x, y bool) int {
	switch {
	case x == y:
		return 0
	case y:
		return -1
	}
	return 1
}
