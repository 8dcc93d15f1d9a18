"""Pictures: boards, and later search trees and learning curves."""
