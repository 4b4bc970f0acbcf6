"""Formulas: LaTeX and MathML to symbol layout trees and operator trees."""
