// Package kube is the client of the API groups that this program uses. It has the shape of client-go's Clientset, which has
// all groups: their types alone made the binary 10 MB larger, and took most of the time of its first build (ADR 0021).
//
// A Clientset can take the place of this client in tests, see test/kubefake.
package kube
