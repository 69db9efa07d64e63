package live

// rows stores values by name, in a slice that can be copied at once. The order has no meaning.
type rows[T any] struct {
	rows  []T
	names []string
	at    map[string]int
}

func newRows[T any]() *rows[T] { return newRowsFor[T](0) }

// newRowsFor returns rows with capacity for count values.
func newRowsFor[T any](count int64) *rows[T] {
	return &rows[T]{rows: make([]T, 0, count), names: make([]string, 0, count), at: make(map[string]int, count)}
}

func (r *rows[T]) put(name string, row T) {
	if i, ok := r.at[name]; ok {
		r.rows[i] = row
		return
	}
	r.at[name] = len(r.rows)
	r.rows, r.names = append(r.rows, row), append(r.names, name)
}

func (r *rows[T]) get(name string) (row T, known bool) {
	i, known := r.at[name]
	if known {
		row = r.rows[i]
	}
	return row, known
}

func (r *rows[T]) remove(name string) {
	i, ok := r.at[name]
	if !ok {
		return
	}
	var none T
	last := len(r.rows) - 1
	r.rows[i], r.names[i] = r.rows[last], r.names[last]
	r.at[r.names[i]] = i
	r.rows[last], r.names[last] = none, ""
	r.rows, r.names = r.rows[:last], r.names[:last]
	delete(r.at, name)
}
