// Package help lays out the help of all commands.
package help
