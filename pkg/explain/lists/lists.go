// Package lists searches lists of structs.
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
