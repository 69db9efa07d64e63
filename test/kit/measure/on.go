//go:build measure

package measure

const enabled = true
