//go:build !measure

package measure

// Enabled reports whether tests measure.
const Enabled = false
