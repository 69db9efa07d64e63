// Package screen has what all screens of the interactive view share: the interfaces Screen and
// Pane, the Data that they draw, tabs, and panes of text.
//
// A screen never calls the Model that shows it. It returns an Action, such as to open another
// screen or to ask a Question.
package screen
